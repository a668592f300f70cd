// Runs modules for tests; see op_runner.h.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_runner.h"
#include "ir/interpret/interpreter.h"
#include "passes/codegen/cpu/native_program.h"
#include "passes/codegen/jit/object_compiler.h"
#include "passes/codegen/jit/program_loader.h"
#include "passes/pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace mlir;

namespace pdg {

TestContext::TestContext() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  context.appendDialectRegistry(registry);
  context.getOrLoadDialect<PdgDialect>();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    reports += diagnostic.str() + "\n";
    return success();
  });
}

OwningOpRef<ModuleOp> TestContext::parse(llvm::StringRef text) {
  auto module = parseSourceString<ModuleOp>(text, &context, "test.mlir");
  EXPECT_TRUE(module) << reports << text.str();
  return module;
}

bool simplify(TestContext &test, ModuleOp module) {
  PassManager pm(&test.context, ModuleOp::getOperationName());
  buildGraphPipeline(pm);
  return succeeded(pm.run(module));
}

//===- Runs ----------------------------------------------------------------===//

using RunFunction = llvm::function_ref<void(ExecutionContext &)>;

/// One run of a program with `info`.
static Outcome runOnce(const ProgramInfo &info, const Tensors &inputs, int threads,
                       RunFunction run) {
  Outcome outcome;
  RunOptions options;
  options.threads = threads;
  options.isQuiet = true;
  options.seed = 7;
  auto context = ExecutionContext::create(info, options);
  if (!context.ok()) {
    outcome.problem = std::string(context.status().message());
    return outcome;
  }
  ExecutionContext &live = **context;
  live.setSink([&](std::string_view line) {
    outcome.lines.emplace_back(line);
    return absl::OkStatus();
  });
  // An input that nobody needs may have been pruned.
  for (const InputInfo &input : info.inputs)
    if (absl::Status status = live.feed(input.name, inputs.at(input.name)->clone().value());
        !status.ok())
      outcome.problem = std::string(status.message());
  run(live);
  outcome.error = live.error();
  for (const TensorRef &value : live.fetchedValues())
    outcome.values[value.name] = value.tensor->clone().value();
  for (auto [variable, tensor] : llvm::zip(info.variables, live.variables()))
    outcome.variables[variable.name] = tensor.clone().value();
  return outcome;
}

Outcome interpretModule(TestContext &test, ModuleOp module, const Tensors &inputs) {
  FailureOr<ProgramTables> tables = ProgramTables::build(module, {});
  if (failed(tables)) {
    Outcome outcome;
    outcome.problem = "no tables: " + test.reports;
    return outcome;
  }
  return runOnce(tables->info(), inputs, 1,
                 [&](ExecutionContext &context) { interpret(module, *tables, context); });
}

std::vector<Outcome> runNative(TestContext &test, ModuleOp module, ArrayRef<Tensors> inputs,
                               const TargetInfo &target, ArrayRef<int> threads) {
  OwningOpRef<ModuleOp> copy(module.clone());
  std::vector<Outcome> outcomes;
  auto refuse = [&](const std::string &problem) {
    outcomes.resize(inputs.size() * threads.size());
    for (Outcome &outcome : outcomes)
      outcome.problem = problem;
    return std::move(outcomes);
  };
  FailureOr<NativeProgram> program = compileNative(*copy, {}, target);
  if (failed(program))
    return refuse("does not compile: " + test.reports);
  auto loaded = LoadedProgram::load(std::move(program->object));
  if (!loaded)
    return refuse("does not load: " + llvm::toString(loaded.takeError()));
  for (const Tensors &fed : inputs)
    for (int count : threads)
      outcomes.push_back(runOnce(program->info, fed, count, [&](ExecutionContext &context) {
        context.run((*loaded)->init(), (*loaded)->main());
      }));
  return outcomes;
}

std::vector<TargetInfo> runnableTargets() {
  std::vector<TargetInfo> targets;
  for (const TargetInfo &target : {avx2Target(), avx512Target()})
    if (hostRuns(target))
      targets.push_back(target);
  return targets;
}

//===- Comparing -----------------------------------------------------------===//

template <class T> static bool sameBits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b))
      return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T> static std::string firstDifference(const HostTensor &a, const HostTensor &b) {
  for (int64_t i = 0; i < a.numElements(); ++i) {
    T x = a.data<T>()[i], y = b.data<T>()[i];
    if (sameBits(x, y))
      continue;
    std::ostringstream text;
    text.precision(17);
    text << a.typeString() << " element " << i << ": " << +x << " and " << +y;
    return text.str();
  }
  return "";
}

std::string differenceOf(const HostTensor &a, const HostTensor &b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return a.typeString() + " and " + b.typeString();
  switch (a.dtype()) {
  case DType::F32:
    return firstDifference<float>(a, b);
  case DType::F64:
    return firstDifference<double>(a, b);
  case DType::I32:
    return firstDifference<int32_t>(a, b);
  case DType::I64:
    return firstDifference<int64_t>(a, b);
  default:
    // Bools too: a byte that is neither 0 nor 1 is a difference.
    for (int64_t i = 0; i < int64_t(a.numBytes()); ++i)
      if (a.bytes()[i] != b.bytes()[i])
        return a.typeString() + " byte " + std::to_string(i) + ": " + std::to_string(a.bytes()[i]) +
               " and " + std::to_string(b.bytes()[i]);
    return "";
  }
}

static std::string differenceOf(const std::map<std::string, HostTensor> &expected,
                                const std::map<std::string, HostTensor> &got,
                                const std::string &what) {
  std::string result;
  for (const auto &[name, tensor] : expected) {
    auto found = got.find(name);
    std::string difference =
        found == got.end() ? "is missing" : differenceOf(tensor, found->second);
    if (!difference.empty())
      result += what + " " + name + ": " + difference + "\n";
  }
  if (got.size() > expected.size())
    result += "more " + what + "s than expected\n";
  return result;
}

std::string differenceOf(const Outcome &expected, const Outcome &got) {
  std::string result;
  auto compare = [&](const std::string &what, const std::string &a, const std::string &b) {
    if (a != b)
      result += what + ": '" + a + "' and '" + b + "'\n";
  };
  compare("problem", expected.problem, got.problem);
  compare("error code", expected.error.code, got.error.code);
  compare("error", expected.error.message, got.error.message);
  compare("error place", expected.error.location, got.error.location);
  compare("exit code", std::to_string(expected.error.exitCode), std::to_string(got.error.exitCode));
  compare("lines", llvm::join(expected.lines, "\n"), llvm::join(got.lines, "\n"));
  result += differenceOf(expected.values, got.values, "value");
  // What variables are after an error is nobody's promise.
  if (!expected.error.exitCode)
    result += differenceOf(expected.variables, got.variables, "variable");
  return result;
}

TargetInfo targetOfTurn(size_t turn) {
  static const std::vector<TargetInfo> targets = runnableTargets();
  return targets[turn % targets.size()];
}

std::string compareNative(TestContext &test, ModuleOp module, ArrayRef<Tensors> inputs,
                          ArrayRef<TargetInfo> targets) {
  std::vector<Outcome> expected;
  for (const Tensors &fed : inputs) {
    expected.push_back(interpretModule(test, module, fed));
    if (!expected.back().problem.empty())
      return "interpreter: " + expected.back().problem;
  }
  const int threads[] = {1, 2, 3};
  for (const TargetInfo &target : targets) {
    std::vector<Outcome> outcomes = runNative(test, module, inputs, target, threads);
    for (auto [i, outcome] : llvm::enumerate(outcomes))
      if (std::string difference = differenceOf(expected[i / std::size(threads)], outcome);
          !difference.empty())
        return target.name + " with " + std::to_string(threads[i % std::size(threads)]) +
               " threads:\n" + difference;
  }
  return "";
}

//===- Random tensors ------------------------------------------------------===//

template <class T> static T plainElement(Random &random) {
  if constexpr (std::is_floating_point_v<T>)
    return std::uniform_real_distribution<T>(-4, 4)(random);
  else if constexpr (std::is_same_v<T, bool>)
    return random() % 2;
  else
    return static_cast<T>(static_cast<int64_t>(random() % 23) - 9);
}

template <class T> static T specialElement(Random &random) {
  using Limits = std::numeric_limits<T>;
  if (random() % 2)
    return plainElement<T>(random);
  if constexpr (std::is_floating_point_v<T>) {
    const T choices[] = {Limits::quiet_NaN(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         T(0),
                         -T(0),
                         Limits::denorm_min(),
                         -Limits::min() / 2,
                         Limits::max(),
                         -Limits::max() / 3,
                         T(1),
                         T(-1),
                         T(0.5),
                         T(2.5),
                         T(-3),
                         T(1e10),
                         T(-709.5),
                         T(88.5),
                         T(257),
                         T(-2147483649.0),
                         T(9.3e18)};
    return choices[random() % std::size(choices)];
  } else {
    const T choices[] = {Limits::max(), Limits::lowest(),   T(0),
                         T(1),          static_cast<T>(-1), static_cast<T>(Limits::lowest() + 1),
                         T(2),          static_cast<T>(-2)};
    return choices[random() % std::size(choices)];
  }
}

/// Elements at which functions with kinks at integers, zero and ties are smooth.
template <class T> static void fillSmooth(Random &random, HostTensor &tensor, bool isSigned) {
  int64_t n = tensor.numElements();
  std::vector<int64_t> order(n);
  for (int64_t i = 0; i < n; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  // A random shift, so that elements of several tensors differ too.
  double shift = std::uniform_real_distribution<double>(0, 0.1)(random);
  for (int64_t i = 0; i < n; ++i) {
    double x = 0.15 + 0.7 * (order[i] + shift) / std::max<int64_t>(n, 1);
    if (random() % 3 == 0)
      x += 1;
    tensor.data<T>()[i] = static_cast<T>(isSigned && random() % 2 ? -x : x);
  }
}

template <class T> static void fill(Random &random, HostTensor &tensor, Style style) {
  if constexpr (std::is_floating_point_v<T>)
    if (style == Style::Smooth || style == Style::Signed)
      return fillSmooth<T>(random, tensor, style == Style::Signed);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.data<T>()[i] =
        style == Style::Special ? specialElement<T>(random) : plainElement<T>(random);
}

/// Calls `fn.operator()<T>()` for the C++ type of `dtype`.
template <class Fn> static void withType(DType dtype, Fn fn) {
  switch (dtype) {
  case DType::F32:
    return fn.template operator()<float>();
  case DType::F64:
    return fn.template operator()<double>();
  case DType::I32:
    return fn.template operator()<int32_t>();
  case DType::I64:
    return fn.template operator()<int64_t>();
  case DType::U8:
    return fn.template operator()<uint8_t>();
  default:
    return fn.template operator()<bool>();
  }
}

static std::shared_ptr<HostTensor> makeTensor(DType dtype, std::vector<int64_t> shape) {
  return std::make_shared<HostTensor>(HostTensor::create(dtype, std::move(shape)).value());
}

std::shared_ptr<HostTensor> randomTensor(Random &random, DType dtype, std::vector<int64_t> shape,
                                         Style style) {
  auto tensor = makeTensor(dtype, std::move(shape));
  if (dtype == DType::BF16 || dtype == DType::F16 || dtype == DType::I8) {
    for (size_t i = 0; i < size_t(tensor->numBytes()); ++i)
      tensor->bytes()[i] = static_cast<uint8_t>(random());
    return tensor;
  }
  withType(dtype, [&]<class T>() { fill<T>(random, *tensor, style); });
  return tensor;
}

std::shared_ptr<HostTensor> randomIndices(Random &random, DType dtype, std::vector<int64_t> shape,
                                          int64_t limit) {
  auto tensor = makeTensor(dtype, std::move(shape));
  withType(dtype, [&]<class T>() {
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      tensor->data<T>()[i] = static_cast<T>(random() % limit);
  });
  return tensor;
}

void avoidZeros(HostTensor &tensor) {
  withType(tensor.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      if (tensor.data<T>()[i] == T(0))
        tensor.data<T>()[i] = T(1);
  });
}

RankedTensorType typeOf(MLIRContext *context, DType dtype, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, elementType(context, dtype));
}

} // namespace pdg

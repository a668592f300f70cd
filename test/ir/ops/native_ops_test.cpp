// Native code gives the bits of the interpreter: every op, element type, odd and empty shapes,
// special values, sizes that only the run knows, both instruction sets, any number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"
#include "ir/ops/variable.h"
#include "test/ir/ops/op_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

using namespace mlir;

namespace pdg {
namespace {

/// A module costs more to compile than a case: this many share one.
constexpr size_t kCasesOfModule = 48;
/// What compiled code is fed with, one after the other.
constexpr Style kStyles[] = {Style::Special, Style::Plain};

std::string nameOf(size_t i) { return "c" + std::to_string(i) + "."; }

/// What went wrong, with the cases that the names stand for.
std::string explain(const std::string &difference, ArrayRef<OpCase> cases) {
  std::string text = difference;
  for (auto [i, opCase] : llvm::enumerate(cases))
    if (difference.find(nameOf(i)) != std::string::npos)
      text += nameOf(i) + " is " + opCase.str() + "\n";
  return text;
}

void checkCases(TestContext &test, Random &random, ArrayRef<OpCase> cases,
                ArrayRef<TargetInfo> targets) {
  ProgramBuilder program(test);
  std::vector<Tensors> inputs(std::size(kStyles));
  for (auto [i, opCase] : llvm::enumerate(cases)) {
    Operation *op = program.add(opCase, nameOf(i));
    ASSERT_TRUE(op) << opCase.str();
    program.fetch(nameOf(i), op->getResult(0));
    for (auto [tensors, style] : llvm::zip(inputs, kStyles))
      addInputs(tensors, random, op, opCase, nameOf(i), style);
  }
  std::string difference = compareNative(test, program.finish(), inputs, targets);
  EXPECT_EQ(difference, "") << explain(difference, cases);
}

/// The modules are shared among this many tests, which may run beside each other.
constexpr size_t kParts = 12;

class NativeOps : public testing::TestWithParam<size_t> {
protected:
  /// Calls `check` with the cases of each module of this part.
  void inModules(ArrayRef<OpCase> cases, llvm::function_ref<void(size_t, ArrayRef<OpCase>)> check) {
    for (size_t begin = 0; begin < cases.size(); begin += kCasesOfModule, ++modules_)
      if (modules_ % kParts == GetParam())
        check(begin / kCasesOfModule, cases.slice(begin).take_front(kCasesOfModule));
  }

  TestContext test;
  Random random{1 + GetParam()};

private:
  size_t modules_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Parts, NativeOps, testing::Range(size_t(0), kParts));

/// The cases of all ops, made once.
ArrayRef<OpCase> cases() {
  static const std::vector<OpCase> all = [] {
    TestContext test;
    return allCases(test);
  }();
  return all;
}

bool hasF32(const OpCase &opCase) {
  return llvm::any_of(opCase.operands,
                      [](const OperandSpec &operand) { return operand.dtype == DType::F32; });
}

/// The kernels of convolutions cost most to compile, and have tests of their own.
bool isConvolution(const OpCase &opCase) { return StringRef(opCase.op).starts_with("pdg.conv2d"); }

TEST_P(NativeOps, GiveTheBitsOfTheInterpreter) {
  std::vector<OpCase> inF32, others;
  for (const OpCase &opCase : cases())
    if (hasF32(opCase))
      inF32.push_back(opCase);
    else if (!isConvolution(opCase))
      others.push_back(opCase);
  // The instruction sets take turns, and begin with different ones for f32 and for the others.
  // Kernels of products and convolutions are tested with both, program by program.
  inModules(inF32, [&](size_t turn, ArrayRef<OpCase> part) {
    checkCases(test, random, part, targetOfTurn(turn));
  });
  inModules(others, [&](size_t turn, ArrayRef<OpCase> part) {
    checkCases(test, random, part, targetOfTurn(turn + 1));
  });
}

//===- Sizes that only the run knows ---------------------------------------===//

constexpr int64_t kExamples = 96, kBatch = 64; ///< The second batch has 32.

/// A program whose loop takes batches of row numbers; operands are rows of tables.
struct BatchProgram {
  explicit BatchProgram(TestContext &test) : program(test), tables(&test.context) {
    OpBuilder &b = program.b;
    Location loc = program.loc;
    OpBuilder top = OpBuilder::atBlockBegin(program.module->getBody());
    auto field = TypeAttr::get(typeOf(b.getContext(), DType::F32, {2}));
    auto source = SourceOp::create(
        top, loc, "rows", "csv", top.getStrArrayAttr({writeRows()}), kBatch,
        /*shuffle=*/false, /*window=*/0, /*seed=*/0, /*skip=*/0, /*limit=*/-1, llvm::APFloat(0.0),
        llvm::APFloat(1.0), /*repeat=*/1, nullptr, top.getArrayAttr(field));
    loop = ForEachOp::create(b, loc, source, ValueRange());
    tables.setInsertionPoint(loop);
    Block &body = loop.getBody().front();
    b.setInsertionPointToEnd(&body);
    Value rows = body.getArgument(1), count = DimOp::create(b, loc, rows, 0);
    Value column = SliceOp::create(b, loc, rows, 1, 0, 1);
    Value flat = ReshapeOp::create(b, loc, column, count, ShapedType::kDynamic);
    ids = CastOp::create(b, loc, flat, b.getI64Type());
    isFirst = EqOp::create(b, loc, body.getArgument(0), sizeConstant(b, loc, 0));
  }

  static std::string writeRows() {
    std::string file = testing::TempDir() + "pdg_op_tests_rows.csv";
    std::ofstream out(file);
    out << "row,again\n";
    for (int64_t i = 0; i < kExamples; ++i)
      out << i << "," << i << "\n";
    return file;
  }

  /// Fetches `value` of the last batch, and of the first one.
  void fetch(const std::string &name, Value value) {
    program.fetch(name, value);
    auto other = IfOp::create(program.b, program.loc, TypeRange(), isFirst);
    for (Region &region : other->getRegions()) {
      if (region.empty())
        region.emplaceBlock();
      region.front().clear();
      OpBuilder inner = OpBuilder::atBlockEnd(&region.front());
      if (&region == &other.getThenRegion())
        FetchOp::create(inner, program.loc, name + "first", value);
      YieldOp::create(inner, program.loc);
    }
  }

  /// Builds `opCase`, the batched operands of which become rows of tables.
  Operation *add(OpCase &opCase, const std::string &prefix) {
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(opCase.operands)) {
      bool isBatched = opCase.batched[i] == 'b';
      if (isBatched)
        operand.shape[0] = kExamples;
      Value table = InputOp::create(tables, program.loc,
                                    typeOf(tables.getContext(), operand.dtype, operand.shape),
                                    prefix + std::to_string(i));
      operands.push_back(isBatched ? GatherOp::create(program.b, program.loc, table, ids) : table);
    }
    return buildOp(program.b, opCase, operands);
  }

  ModuleOp finish() {
    YieldOp::create(program.b, program.loc);
    program.b.setInsertionPointAfter(loop);
    return program.finish();
  }

  ProgramBuilder program;
  OpBuilder tables; ///< Before the loop.
  ForEachOp loop;
  Value ids, isFirst;
};

void checkBatches(TestContext &test, Random &random, std::vector<OpCase> cases,
                  const TargetInfo &target) {
  BatchProgram program(test);
  std::vector<Tensors> inputs(std::size(kStyles));
  for (auto [i, opCase] : llvm::enumerate(cases)) {
    Operation *op = program.add(opCase, nameOf(i));
    ASSERT_TRUE(op) << opCase.str() << test.reports;
    program.fetch(nameOf(i), op->getResult(0));
    for (auto [tensors, style] : llvm::zip(inputs, kStyles))
      addInputs(tensors, random, op, opCase, nameOf(i), style);
  }
  std::string difference = compareNative(test, program.finish(), inputs, target);
  EXPECT_EQ(difference, "") << explain(difference, cases);
}

TEST_P(NativeOps, GiveTheBitsOfTheInterpreterInBatches) {
  // What sizes do does not depend on types, of which one is enough.
  std::set<std::string> haveF32;
  for (const OpCase &opCase : cases())
    if (hasF32(opCase))
      haveF32.insert(opCase.op);
  std::vector<OpCase> batched;
  size_t convolutions = 0;
  for (const OpCase &opCase : cases()) {
    bool isOther = (!hasF32(opCase) && haveF32.contains(opCase.op)) ||
                   (isConvolution(opCase) && convolutions++ % 3 != 0);
    bool fits = !opCase.batched.empty();
    for (auto [mark, operand] : llvm::zip(opCase.batched, opCase.operands))
      fits &= mark != 'b' || !operand.shape.empty();
    for (const OperandSpec &operand : opCase.operands) {
      fits &= !llvm::is_contained(operand.shape, 0);
      isOther |=
          operand.dtype == DType::F64 || operand.dtype == DType::U8 || operand.dtype == DType::I32;
    }
    if (fits && !isOther)
      batched.push_back(opCase);
  }
  ASSERT_GT(batched.size(), 100u);
  inModules(batched, [&](size_t turn, ArrayRef<OpCase> part) {
    checkBatches(test, random, part.vec(), targetOfTurn(turn));
  });
}

} // namespace
} // namespace pdg

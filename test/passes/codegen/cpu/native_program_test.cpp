// Compiled programs as a whole: the same bits for any number of threads and both instruction sets,
// no allocation in the steady state.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/native_program.h"
#include "passes/codegen/jit/object_compiler.h"
#include "passes/codegen/jit/program_loader.h"
#include "passes/pipelines.h"
#include "runtime/worker/execution_context.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Every allocation of this process, on all threads, is counted.
//===----------------------------------------------------------------------===//

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PDG_SANITIZED 1
#endif
#endif

static std::atomic<int64_t> allocations;

#ifndef PDG_SANITIZED
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
}
#endif

namespace pdg {
namespace {

// A small classifier with a momentum optimizer, on 84 examples in batches of 32, 32 and 20.
constexpr const char *kTraining = R"mlir(
pdg.source @train "idx" ["x.idx", "y.idx"] batch 32 shuffle : [tensor<24xf32>, tensor<ui8>] {seed = 3 : i64}
pdg.variable <"W"> : tensor<24x40xf32> param {
  %seed = pdg.seed
  %w = pdg.random_normal "W" seed %seed f32 to [24, 40]
  pdg.yield %w : tensor<24x40xf32>
}
pdg.variable <"W", state = "momentum.v"> : tensor<24x40xf32> {
  %v = pdg.constant dense<0.0> : tensor<24x40xf32>
  pdg.yield %v : tensor<24x40xf32>
}
pdg.program {
  %first = pdg.constant dense<0> : tensor<i64>
  %last = pdg.constant dense<6> : tensor<i64>
  %none = pdg.constant dense<0.0> : tensor<f32>
  pdg.for %first to %last {
  ^bb0(%epoch: tensor<i64>):
    %total = pdg.for_each @train carry(%none : tensor<f32>) -> tensor<f32> {
    ^bb0(%step: tensor<i64>, %x: tensor<?x24xf32>, %y: tensor<?xui8>, %sum: tensor<f32>):
      %w = pdg.read <"W"> : tensor<24x40xf32>
      %z = pdg.contract "ik,kj->ij" %x, %w : tensor<?x24xf32>, tensor<24x40xf32>
      %a = pdg.tanh %z : tensor<?x40xf32>
      %p = pdg.pick %a, %y : tensor<?x40xf32>, tensor<?xui8>
      %loss = pdg.sum %p axis 0 : tensor<?xf32>
      %g = pdg.gradient %loss of [#pdg.name<"W">] : tensor<f32> -> tensor<24x40xf32>
      %v = pdg.read <"W", state = "momentum.v"> : tensor<24x40xf32>
      %beta = pdg.constant dense<0.9> : tensor<24x40xf32>
      %rate = pdg.constant dense<0.01> : tensor<24x40xf32>
      %kept = pdg.mul %beta, %v : tensor<24x40xf32>, tensor<24x40xf32>
      %v1 = pdg.add %kept, %g : tensor<24x40xf32>, tensor<24x40xf32>
      pdg.assign <"W", state = "momentum.v">, %v1 : tensor<24x40xf32>
      %change = pdg.mul %rate, %v1 : tensor<24x40xf32>, tensor<24x40xf32>
      %w1 = pdg.sub %w, %change : tensor<24x40xf32>, tensor<24x40xf32>
      pdg.assign <"W">, %w1 : tensor<24x40xf32>
      %next = pdg.add %sum, %loss : tensor<f32>, tensor<f32>
      pdg.yield %next : tensor<f32>
    }
    pdg.print ["epoch ", " total ", ""] [#pdg.format<>, #pdg.format<>] (%epoch, %total : tensor<i64>, tensor<f32>)
  }
  pdg.yield
}
)mlir";

/// Writes an IDX file with elements from `element(i)`, each `bytes` long and big-endian.
void writeIdx(const std::string &path, uint8_t type, std::vector<uint32_t> sizes,
              const std::function<std::string(size_t)> &element) {
  std::ofstream file(path, std::ios::binary);
  std::string header{0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  size_t count = 1;
  for (uint32_t size : sizes) {
    for (int shift : {24, 16, 8, 0})
      header += static_cast<char>(size >> shift);
    count *= size;
  }
  file << header;
  for (size_t i = 0; i < count; ++i)
    file << element(i);
}

class NativeProgramTest : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/pdg-native-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    writeIdx(folder_ + "/x.idx", 0x0d, {84, 24}, [](size_t i) {
      float value = static_cast<float>((i * 37) % 101) / 101 - 0.5f;
      uint32_t bits = std::bit_cast<uint32_t>(value);
      std::string bytes;
      for (int shift : {24, 16, 8, 0})
        bytes += static_cast<char>(bits >> shift);
      return bytes;
    });
    writeIdx(folder_ + "/y.idx", 0x08, {84},
             [](size_t i) { return std::string(1, static_cast<char>(i * 7 % 40)); });
  }
  void TearDown() override {
    for (const char *file : {"/x.idx", "/y.idx"})
      unlink((folder_ + file).c_str());
    rmdir(folder_.c_str());
  }

  /// Compiles `text` and runs it; gives the printed lines and the variables' bytes.
  std::vector<std::string> run(const char *text, const TargetInfo &target, int threads,
                               const std::function<void()> &atPrint = {}) {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.getOrLoadDialect<PdgDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    PassManager pm(&context, ModuleOp::getOperationName());
    buildGraphPipeline(pm);
    if (!module || failed(pm.run(*module)))
      return {"no graph"};
    FailureOr<NativeProgram> program = compileNative(*module, {}, target);
    if (failed(program))
      return {"no native program"};
    auto loaded = LoadedProgram::load(std::move(program->object));
    if (!loaded)
      return {llvm::toString(loaded.takeError())};
    RunOptions options;
    options.paths.scriptDir = folder_;
    options.threads = threads;
    options.isQuiet = true;
    auto run = ExecutionContext::create(program->info, options);
    if (!run.ok())
      return {std::string(run.status().message())};
    std::vector<std::string> lines;
    lines.reserve(100);
    (*run)->setSink([&](std::string_view line) {
      if (atPrint)
        atPrint();
      else
        lines.push_back(std::string(line));
      return absl::OkStatus();
    });
    if (!(*run)->run((*loaded)->init(), (*loaded)->main()))
      lines.push_back("stopped: " + (*run)->error().message);
    for (HostTensor &variable : (*run)->variables())
      lines.emplace_back(reinterpret_cast<const char *>(variable.bytes()), variable.numBytes());
    return lines;
  }

  std::string folder_;
};

TEST_F(NativeProgramTest, GivesTheSameBitsForAnyNumberOfThreadsAndBothInstructionSets) {
  std::vector<std::string> expected = run(kTraining, avx2Target(), 1);
  ASSERT_EQ(expected.size(), 8u) << expected.front();
  EXPECT_EQ(expected[0].substr(0, 14), "epoch 0 total ");
  EXPECT_NE(expected[0].substr(14), expected[5].substr(14)) << "training changes the total";
  for (const TargetInfo &target : {avx2Target(), avx512Target()})
    for (int threads : {1, 2, 3})
      if (hostRuns(target)) {
        EXPECT_EQ(run(kTraining, target, threads), expected) << target.name << " " << threads;
      }
}

TEST_F(NativeProgramTest, AllocatesNothingInTheSteadyState) {
#ifdef PDG_SANITIZED
  GTEST_SKIP() << "the sanitizer has its own malloc";
#endif
  // The first epochs warm up: files are read, buffers of texts grow.
  std::vector<int64_t> counts;
  counts.reserve(100);
  run(kTraining, hostTarget(), 2, [&] { counts.push_back(allocations.load()); });
  ASSERT_EQ(counts.size(), 6u);
  for (size_t epoch = 3; epoch < counts.size(); ++epoch)
    EXPECT_EQ(counts[epoch] - counts[epoch - 1], 0) << "epoch " << epoch;
}

TEST_F(NativeProgramTest, NamesAnIndexThatIsOutOfRange) {
  std::string text(kTraining);
  // 30 classes, but labels up to 39.
  for (const char *sizes : {"24x40", "?x40x"})
    for (size_t at; (at = text.find(sizes)) != std::string::npos;)
      text.replace(text.find("40", at), 2, "30");
  text.replace(text.find("[24, 40]"), 8, "[24, 30]");
  std::vector<std::string> lines = run(text.c_str(), hostTarget(), 2);
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines[0].starts_with("stopped: index 3")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("is out of range: expected 0 <= index < 30")) << lines[0];
}

} // namespace
} // namespace pdg

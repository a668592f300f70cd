// Generated matrix products have the bits of the plain chain, for every shape, target and split.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/emitter.h"
#include "passes/codegen/cpu/kernels/gemm.h"
#include "test/passes/codegen/kernel_jit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pdg::test {
namespace {

using Kernel = void(const void *, const void *, void *, const void *, void *, int64_t, int64_t,
                    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

struct Problem {
  GemmSpec spec;
  int64_t m, n, k, leaves = 1;
  int rowParts = 1, columnParts = 1;
  GuardedBuffer::Side side = GuardedBuffer::Side::High;
};

int64_t leadingDimension(const std::optional<int64_t> &given, int64_t dense) {
  return given.value_or(dense);
}

/// What gemm.h says, as loops.
template <typename T>
T referenceSum(const Problem &p, const T *a, const T *b, int64_t lda, int64_t ldb, int64_t i,
               int64_t j) {
  std::vector<T> partial(p.leaves, T(0));
  int64_t length = p.k / p.leaves;
  for (int64_t leaf = 0; leaf < p.leaves; ++leaf)
    for (int64_t k = leaf * length; k < (leaf + 1) * length; ++k)
      partial[leaf] = std::fma(p.spec.transA ? a[k * lda + i] : a[i * lda + k],
                               p.spec.transB ? b[j * ldb + k] : b[k * ldb + j], partial[leaf]);
  for (int64_t count = p.leaves; count > 1; count /= 2)
    for (int64_t leaf = 0; leaf < count / 2; ++leaf)
      partial[leaf] = partial[2 * leaf] + partial[2 * leaf + 1];
  return partial[0];
}

template <typename T> T referenceFinish(Epilogue epilogue, T sum, T bias) {
  if (epilogue == Epilogue::Bias || epilogue == Epilogue::BiasRelu)
    sum = sum + bias;
  if (epilogue == Epilogue::Relu || epilogue == Epilogue::BiasRelu)
    sum = sum > 0 || sum != sum ? sum : T(0);
  return sum;
}

template <typename T> void fill(Guarded<T> &array, std::mt19937 &random, bool special) {
  std::uniform_real_distribution<T> uniform(-1, 1);
  const T specials[] = {T(0),
                        -T(0),
                        std::numeric_limits<T>::infinity(),
                        std::numeric_limits<T>::quiet_NaN(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::denorm_min()};
  for (T &value : array.values())
    value = special && random() % 4 == 0 ? specials[random() % 6] : uniform(random);
}

std::string describe(const Problem &p, const TargetInfo &target) {
  auto word = [](bool isStatic, const char *name, int64_t value) {
    return std::string(" ") + name + (isStatic ? "=" : "~") + std::to_string(value);
  };
  return target.name + (p.spec.isF64 ? " f64 " : " f32 ") + (p.spec.transA ? "t" : "n") +
         (p.spec.transB ? "t" : "n") + word(!!p.spec.m, "m", p.m) + word(!!p.spec.n, "n", p.n) +
         word(!!p.spec.k, "k", p.k) + " leaves=" + std::to_string(p.spec.leafK ? p.leaves : 0) +
         " epilogue=" + std::to_string(int(p.spec.epilogue)) +
         " parts=" + std::to_string(p.rowParts) + "x" + std::to_string(p.columnParts);
}

/// Calls the kernel for every rectangle of a rowParts x columnParts grid.
template <typename T>
void runParts(const Problem &p, const TargetInfo &target, Kernel *kernel, const T *a, const T *b,
              T *c, const T *bias, void *work) {
  int64_t rowStep = gemmRowStep(p.spec, target), columnStep = gemmColumnStep(p.spec, target);
  auto bound = [](int64_t extent, int64_t step, int64_t part, int64_t parts) {
    return std::min(extent, (extent + step - 1) / step * part / parts * step);
  };
  for (int r = 0; r < p.rowParts; ++r)
    for (int s = 0; s < p.columnParts; ++s)
      kernel(a, b, c, bias, work, bound(p.m, rowStep, r, p.rowParts),
             bound(p.m, rowStep, r + 1, p.rowParts), bound(p.n, columnStep, s, p.columnParts),
             bound(p.n, columnStep, s + 1, p.columnParts), p.m, p.n, p.k, p.leaves);
}

template <typename T>
void checkProblem(const Problem &p, const TargetInfo &target, Kernel *kernel, std::mt19937 &random,
                  bool special) {
  SCOPED_TRACE(describe(p, target));
  int64_t lda = leadingDimension(p.spec.lda, p.spec.transA ? p.m : p.k);
  int64_t ldb = leadingDimension(p.spec.ldb, p.spec.transB ? p.k : p.n);
  int64_t ldc = leadingDimension(p.spec.ldc, p.n);
  auto size = [](int64_t rows, int64_t columns, int64_t ld) {
    return rows && columns ? (rows - 1) * ld + columns : 0;
  };
  Guarded<T> a(p.spec.transA ? size(p.k, p.m, lda) : size(p.m, p.k, lda), p.side);
  Guarded<T> b(p.spec.transB ? size(p.n, p.k, ldb) : size(p.k, p.n, ldb), p.side);
  Guarded<T> c(size(p.m, p.n, ldc), p.side), bias(p.n, p.side);
  Guarded<char> work(gemmWorkBytes(p.spec, target), GuardedBuffer::Side::High, 64);
  fill(a, random, special);
  fill(b, random, special);
  fill(bias, random, special);
  const T untouched = T(12345);
  std::fill(c.values().begin(), c.values().end(), untouched);
  bool hasBias = p.spec.epilogue == Epilogue::Bias || p.spec.epilogue == Epilogue::BiasRelu;
  runParts(p, target, kernel, a.data(), b.data(), c.data(), hasBias ? bias.data() : nullptr,
           work.data());

  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < ldc && i * ldc + j < int64_t(c.values().size()); ++j) {
      T expected = untouched;
      if (j < p.n)
        expected = referenceFinish(p.spec.epilogue,
                                   referenceSum(p, a.data(), b.data(), lda, ldb, i, j), bias[j]);
      T found = c[i * ldc + j];
      ASSERT_TRUE(sameBits(expected, found))
          << "C[" << i << "," << j << "]: expected " << expected << ", found " << found;
    }
}

void check(const std::vector<Problem> &problems, const TargetInfo &target, bool special = false) {
  KernelJit jit(target);
  std::vector<std::string> names;
  for (const Problem &p : problems)
    names.push_back(emitGemm(jit.module(), p.spec, target).getName().str());
  jit.compile();
  std::mt19937 random(7);
  for (size_t index = 0; index < problems.size() && !::testing::Test::HasFatalFailure(); ++index) {
    auto *kernel = jit.lookup<Kernel>(names[index]);
    if (problems[index].spec.isF64)
      checkProblem<double>(problems[index], target, kernel, random, special);
    else
      checkProblem<float>(problems[index], target, kernel, random, special);
  }
}

/// A specification with all sizes static.
Problem fixed(int64_t m, int64_t n, int64_t k, bool transA = false, bool transB = false) {
  Problem p;
  p.m = m, p.n = n, p.k = k;
  p.spec.m = m, p.spec.n = n, p.spec.k = k;
  p.spec.transA = transA, p.spec.transB = transB;
  return p;
}

Problem randomProblem(std::mt19937 &random) {
  auto size = [&](int64_t limit) -> int64_t {
    return random() % 4 == 0 ? random() % 4 : random() % limit;
  };
  Problem p = fixed(size(70), size(170), size(130), random() % 2, random() % 2);
  GemmSpec &spec = p.spec;
  spec.isF64 = random() % 3 == 0;
  spec.leafK = random() % 3 == 0;
  if (spec.leafK) {
    p.leaves = int64_t(1) << random() % 5;
    p.k = p.leaves * (random() % 20);
    spec.k = p.k;
  }
  spec.epilogue = Epilogue(random() % 4);
  spec.usualM = 1 + random() % 64;
  p.rowParts = 1 + random() % 3, p.columnParts = 1 + random() % 3;
  p.side = random() % 2 ? GuardedBuffer::Side::High : GuardedBuffer::Side::Low;
  if (random() % 4 == 0)
    spec.lda = (spec.transA ? p.m : p.k) + random() % 9;
  if (random() % 4 == 0)
    spec.ldb = (spec.transB ? p.k : p.n) + random() % 9;
  if (random() % 4 == 0)
    spec.ldc = p.n + random() % 9;
  for (auto *extent : {&spec.m, &spec.n, &spec.k})
    if (random() % 3 == 0)
      extent->reset();
  return p;
}

class GemmTest : public ::testing::TestWithParam<TargetInfo> {};

TEST_P(GemmTest, RandomShapes) {
  std::mt19937 random(1);
  for (int batch = 0; batch < 3 && !HasFatalFailure(); ++batch) {
    std::vector<Problem> problems;
    for (int count = 0; count < 16; ++count)
      if (Problem p = randomProblem(random); takesTurn(GetParam(), count))
        problems.push_back(p);
    check(problems, GetParam());
  }
}

TEST_P(GemmTest, EmptyAndSingle) {
  std::vector<Problem> problems;
  for (int trans = 0; trans < 4; ++trans)
    for (auto [m, n, k] : {std::array{0, 5, 3},
                           {5, 0, 3},
                           {5, 3, 0},
                           {1, 1, 1},
                           {3, 1, 40},
                           {1, 3, 40},
                           {70, 1, 33},
                           {1, 300, 17}})
      problems.push_back(fixed(m, n, k, trans & 1, trans & 2));
  check(problems, GetParam());
}

TEST_P(GemmTest, OneKernelServesAllSizes) {
  std::vector<Problem> problems;
  for (auto [m, n, k] : {std::array{7, 65, 1100}, {64, 100, 515}, {1, 1, 1}, {0, 3, 2}}) {
    Problem p = fixed(m, n, k);
    p.spec.m = p.spec.n = p.spec.k = std::nullopt;
    problems.push_back(p);
    p.spec.transB = true;
    problems.push_back(p);
  }
  check(problems, GetParam());
}

// More terms than a block, more rows and columns than a block, packed and not.
TEST_P(GemmTest, BlocksContinueTheChain) {
  std::vector<Problem> problems = {fixed(30, 70, 1300), fixed(30, 70, 1300, true),
                                   fixed(13, 300, 700, false, true), fixed(530, 67, 1030),
                                   fixed(9, 1100, 600)};
  for (Problem &p : problems)
    p.spec.epilogue = Epilogue::BiasRelu, p.rowParts = 2;
  check(problems, GetParam());
}

TEST_P(GemmTest, LeavesMakeATree) {
  std::vector<Problem> problems;
  for (int64_t leaves : {1, 2, 4, 8, 16})
    for (bool isF64 : {false, true}) {
      Problem p = fixed(37, 70, leaves * 16, true);
      p.spec.leafK = true, p.spec.isF64 = isF64;
      p.spec.k = std::nullopt; // One kernel for any number of leaves.
      p.leaves = leaves;
      problems.push_back(p);
    }
  check(problems, GetParam());
}

TEST_P(GemmTest, InfinityNanAndZero) {
  std::vector<Problem> problems;
  for (int epilogue = 0; epilogue < 4; ++epilogue) {
    problems.push_back(fixed(19, 45, 2));
    problems.back().spec.epilogue = Epilogue(epilogue);
  }
  check(problems, GetParam(), /*special=*/true);
}

TEST_P(GemmTest, SameSpecificationIsEmittedOnce) {
  KernelJit jit(GetParam());
  GemmSpec spec = fixed(8, 8, 8).spec, other = spec;
  other.epilogue = Epilogue::Relu;
  EXPECT_EQ(emitGemm(jit.module(), spec, GetParam()), emitGemm(jit.module(), spec, GetParam()));
  EXPECT_NE(emitGemm(jit.module(), spec, GetParam()), emitGemm(jit.module(), other, GetParam()));
}

// The tasks of a split cover its extent, in order, in whole steps.
TEST_P(GemmTest, TaskRangesCoverTheExtent) {
  KernelJit jit(GetParam());
  mlir::OpBuilder builder(jit.module().getContext());
  mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(builder.getContext());
  mlir::Type i64 = builder.getI64Type();
  auto function = startFunction(jit.module(), "range", {pointer, i64, i64, i64}, builder);
  auto arguments = function.getArguments();
  mlir::Location loc = function.getLoc();
  auto [lo, hi] = emitTaskRange(builder, loc, arguments[1], 6, arguments[2], arguments[3]);
  mlir::LLVM::StoreOp::create(builder, loc, lo, arguments[0]);
  mlir::Value second = mlir::LLVM::GEPOp::create(builder, loc, pointer, i64, arguments[0],
                                                 llvm::ArrayRef<mlir::LLVM::GEPArg>{1});
  mlir::LLVM::StoreOp::create(builder, loc, hi, second);
  jit.compile();
  auto *range = jit.lookup<void(int64_t *, int64_t, int64_t, int64_t)>("range");
  for (int64_t extent : {0, 1, 5, 6, 7, 64, 100})
    for (int64_t tasks : {1, 2, 3, 16}) {
      int64_t covered = 0;
      for (int64_t task = 0; task < tasks; ++task) {
        int64_t bounds[2];
        range(bounds, extent, task, tasks);
        EXPECT_EQ(bounds[0], covered);
        EXPECT_LE(bounds[0], bounds[1]);
        EXPECT_TRUE(bounds[1] % 6 == 0 || bounds[1] == extent);
        covered = bounds[1];
      }
      EXPECT_EQ(covered, extent);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, GemmTest, ::testing::ValuesIn(testedTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace pdg::test

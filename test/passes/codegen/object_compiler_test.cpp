// The way from IR to an object keeps every rounding and reports what it cannot lower.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/emitter.h"
#include "passes/codegen/jit/object_compiler.h"
#include "test/passes/codegen/kernel_jit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace pdg::test {
namespace {

class ObjectCompilerTest : public ::testing::TestWithParam<TargetInfo> {};

// x * x - y where the product needs more bits than an f32 has: contraction would show.
TEST_P(ObjectCompilerTest, ProductAndSumRoundApart) {
  KernelJit jit(GetParam());
  mlir::OpBuilder builder(jit.module().getContext());
  mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(builder.getContext());
  auto function = startFunction(jit.module(), "f", {pointer, pointer, pointer}, builder);
  auto arguments = function.getArguments();
  Emitter e(builder, function.getLoc(), /*isF64=*/false, GetParam());
  Value x = e.load(arguments[0]), y = e.load(arguments[1]);
  e.store(e.addF(mlir::arith::MulFOp::create(builder, e.loc, x, x), y), arguments[2]);
  jit.compile();
  std::vector<float> in(e.vl, 1.0f + 0x1p-20f), subtracted(e.vl), out(e.vl, -1);
  for (float &value : subtracted)
    value = -(in[0] * in[0]);
  ASSERT_NE(std::fma(in[0], in[0], subtracted[0]), 0.0f);
  jit.lookup<void(const float *, const float *, float *)>("f")(in.data(), subtracted.data(),
                                                               out.data());
  for (float value : out)
    EXPECT_EQ(value, 0.0f);
}

TEST_P(ObjectCompilerTest, ShowsLlvmIr) {
  KernelJit jit(GetParam());
  mlir::OpBuilder builder(jit.module().getContext());
  startFunction(jit.module(), "nothing", {}, builder);
  std::string text;
  auto object = compileToObject(jit.module(), GetParam(), {.verify = true, .llvmIr = &text});
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_NE(text.find("define void @nothing"), std::string::npos);
  EXPECT_NE(text.find(GetParam().cpu), std::string::npos);
}

TEST_P(ObjectCompilerTest, MakesTextsOnly) {
  KernelJit jit(GetParam());
  mlir::OpBuilder builder(jit.module().getContext());
  startFunction(jit.module(), "nothing", {}, builder);
  std::string text;
  auto object = compileToObject(jit.module(), GetParam(), {.assembly = &text, .isTextOnly = true});
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_EQ(*object, nullptr);
  EXPECT_NE(text.find("nothing:"), std::string::npos);
}

// Somebody who no longer wants the object is asked for often enough: also by the parts of a large
// module.
TEST_P(ObjectCompilerTest, StopsWhenAsked) {
  std::atomic<int> asked = 0;
  auto isStopped = [&] { return ++asked > 1; };
  KernelJit jit(GetParam());
  mlir::OpBuilder builder(jit.module().getContext());
  for (int i = 0; i < 200; ++i)
    startFunction(jit.module(), "f" + std::to_string(i), {}, builder);
  auto object = compileToObject(jit.module(), GetParam(), {.isStopped = isStopped});
  ASSERT_FALSE(bool(object));
  EXPECT_EQ(llvm::toString(object.takeError()), "stopped");
  EXPECT_EQ(asked, 3); // After the passes, and for each of two parts.
}

TEST(ObjectCompiler, ReportsInvalidModules) {
  KernelJit jit(avx2Target());
  mlir::MLIRContext *context = jit.module().getContext();
  context->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  mlir::OpBuilder builder(context);
  mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(context);
  auto function = startFunction(jit.module(), "f", {pointer}, builder);
  auto outside = startFunction(jit.module(), "g", {pointer}, builder);
  // A value of another function.
  mlir::LLVM::LoadOp::create(builder, outside.getLoc(), builder.getF32Type(),
                             function.getArgument(0));
  auto object = compileToObject(jit.module(), avx2Target());
  ASSERT_FALSE(bool(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("lowering"), std::string::npos);
}

TEST(TargetInfoTest, HostRunsItsOwnTarget) {
  TargetInfo host = hostTarget();
  EXPECT_TRUE(host.name.empty() || hostRuns(host));
  EXPECT_FALSE(hostRuns(TargetInfo{}));
}

INSTANTIATE_TEST_SUITE_P(Targets, ObjectCompilerTest, ::testing::ValuesIn(testedTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace pdg::test

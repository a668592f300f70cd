// Objects and archives become shared objects that the system's loader takes.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/emitter.h"
#include "passes/codegen/jit/object_compiler.h"
#include "passes/codegen/jit/shared_object.h"
#include "test/passes/codegen/kernel_jit.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fstream>

namespace pdg::test {
namespace {

/// A shared object of `count` functions f0, f1, ... that do nothing.
std::string linkFunctions(int count) {
  KernelJit jit(avx2Target());
  mlir::OpBuilder builder(jit.module().getContext());
  for (int i = 0; i < count; ++i)
    startFunction(jit.module(), "f" + std::to_string(i), {}, builder);
  auto object = compileToObject(jit.module(), avx2Target());
  EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto library = linkSharedObject((*object)->getBuffer());
  EXPECT_TRUE(bool(library)) << llvm::toString(library.takeError());
  return *library;
}

class SharedObjectTest : public ::testing::TestWithParam<int> {};

TEST_P(SharedObjectTest, HasEveryFunction) {
  std::string path = ::testing::TempDir() + "pdg-shared-object-test.so";
  std::ofstream(path, std::ios::binary) << linkFunctions(GetParam());
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (int i = 0; i < GetParam(); ++i)
    EXPECT_NE(dlsym(library, ("f" + std::to_string(i)).c_str()), nullptr) << i;
  dlclose(library);
  std::remove(path.c_str());
}

TEST_P(SharedObjectTest, DependsOnTheCodeOnly) {
  EXPECT_EQ(linkFunctions(GetParam()), linkFunctions(GetParam()));
}

// One object, and an archive of several.
INSTANTIATE_TEST_SUITE_P(Sizes, SharedObjectTest, ::testing::Values(1, 200));

TEST(SharedObject, SaysWhatTheLinkerSays) {
  auto library = linkSharedObject("no object");
  ASSERT_FALSE(bool(library));
  EXPECT_NE(llvm::toString(library.takeError()).find("linking failed"), std::string::npos);
}

} // namespace
} // namespace pdg::test

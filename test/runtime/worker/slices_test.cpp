// Slices of a variable, on two servers, are one variable in a file: put together and cut again.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/slices.h"

#include <gtest/gtest.h>

#include <numeric>

namespace pdg {
namespace {

VariableInfo sliceOf(const std::string &whole, std::vector<int64_t> shape,
                     std::vector<int64_t> bounds) {
  return {whole + "[...]", DType::F32, std::move(shape), true, whole, std::move(bounds)};
}

std::unique_ptr<ExecutionContext> makeServer(std::vector<VariableInfo> variables) {
  ProgramInfo program;
  program.variables = std::move(variables);
  RunOptions options;
  options.isQuiet = true;
  return ExecutionContext::create(program, options).value();
}

std::vector<float> valuesOf(const HostTensor &tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numElements()};
}

TEST(WholeVariables, ComeFromSlicesAndGoBack) {
  auto first = makeServer({{"b", DType::F32, {1}, true}, sliceOf("w", {2, 2}, {0, 2, 0, 2})});
  auto second = makeServer({sliceOf("w", {2, 1}, {0, 2, 2, 3}), sliceOf("w", {1, 3}, {2, 3})});
  float next = 0;
  for (ExecutionContext *server : {first.get(), second.get()})
    for (HostTensor &tensor : server->variables())
      for (int64_t i = 0; i < tensor.numElements(); ++i)
        tensor.data<float>()[i] = next++;
  ExecutionContext *servers[] = {first.get(), second.get()};
  auto whole = WholeVariables::create(servers).value();
  ASSERT_EQ(whole.refs().size(), 2u);
  EXPECT_EQ(whole.refs()[0].name, "b");
  EXPECT_EQ(whole.refs()[1].name, "w");
  HostTensor &w = *whole.refs()[1].tensor;
  EXPECT_EQ(w.shape(), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(valuesOf(w), (std::vector<float>{1, 2, 5, 3, 4, 6, 7, 8, 9}));

  std::iota(w.data<float>(), w.data<float>() + 9, 10.f);
  whole.scatter();
  EXPECT_EQ(valuesOf(first->variables()[1]), (std::vector<float>{10, 11, 13, 14}));
  EXPECT_EQ(valuesOf(second->variables()[0]), (std::vector<float>{12, 15}));
  EXPECT_EQ(valuesOf(second->variables()[1]), (std::vector<float>{16, 17, 18}));
}

TEST(WholeVariables, MissASlice) {
  auto server = makeServer({sliceOf("w", {2}, {2, 4})});
  ExecutionContext *servers[] = {server.get()};
  EXPECT_EQ(WholeVariables::create(servers).status().message(),
            "slices of 'w' are missing: all of them have 2 elements of f32[4]");
}

} // namespace
} // namespace pdg

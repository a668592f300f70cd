// Variables load only from files that fit them exactly, or in the scopes that were asked for.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/variables.h"

#include "test/runtime/checkpoint/files.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

class Variables : public testing::Test {
protected:
  Variables() {
    variables.push_back({"net.hidden.W", makeTensor<float>({2}, {1, 2})});
    variables.push_back({"net.hidden.W/adam.m", makeTensor<float>({2}, {3, 4})});
    variables.push_back({"net.hidden2.W", makeTensor<double>({1}, {5})});
  }

  void clear() {
    for (NamedTensor &variable : variables)
      std::memset(variable.tensor.bytes(), 0, static_cast<size_t>(variable.tensor.numBytes()));
  }

  absl::Status load(const std::vector<std::string> &only = {}) {
    return loadVariables(path, refsTo(variables), only);
  }

  TempFolder folder;
  std::string path = folder.file("v.safetensors");
  std::vector<NamedTensor> variables;
};

TEST_F(Variables, RoundTripInBothForms) {
  for (const char *name : {"v.safetensors", "v.npz"}) {
    path = folder.file(name);
    ASSERT_TRUE(writeTensors(path, refsTo(variables)).ok());
    clear();
    absl::Status status = load();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(variables[0].tensor.values<float>()[0], 1);
    EXPECT_EQ(variables[0].tensor.values<float>()[1], 2);
    EXPECT_EQ(variables[1].tensor.values<float>()[1], 4);
    EXPECT_EQ(variables[2].tensor.values<double>()[0], 5);
  }
}

TEST_F(Variables, ScopesEndAtNames) {
  EXPECT_TRUE(isInScope("net.hidden.W", "net.hidden"));
  EXPECT_TRUE(isInScope("net.hidden.W", "net.hidden.W"));
  EXPECT_TRUE(isInScope("net.hidden.W/adam.m", "net.hidden.W"));
  EXPECT_FALSE(isInScope("net.hidden2.W", "net.hidden"));
  EXPECT_FALSE(isInScope("net", "net.hidden"));
}

TEST_F(Variables, OnlyLoadsItsScopes) {
  ASSERT_TRUE(writeTensors(path, refsTo(variables)).ok());
  clear();
  absl::Status status = load({"net.hidden"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(variables[0].tensor.values<float>()[0], 1);
  EXPECT_EQ(variables[1].tensor.values<float>()[0], 3);
  EXPECT_EQ(variables[2].tensor.values<double>()[0], 0);
  EXPECT_NE(load({"net.hiden"}).ToString().find("cannot load 'net.hiden'"), std::string::npos);
}

TEST_F(Variables, ScopesLoadWithoutTheStatesThatOneSideLacks) {
  ASSERT_TRUE(writeTensors(path, refsTo(variables)).ok());
  // A program that uses what was trained, and one that trains it in another way.
  variables[1].name = "net.hidden.W/sgd.v";
  clear();
  std::vector<std::string> scopes = {"net.hidden"};
  LoadReport report;
  absl::Status status = loadVariables(path, refsTo(variables), scopes, &report);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(variables[0].tensor.values<float>()[1], 2);
  EXPECT_EQ(variables[1].tensor.values<float>()[1], 0);
  EXPECT_EQ(describe(report, "a.npz"), "note: loaded 1 of 3 variables from a.npz\n"
                                       "  not loaded, so with their first values:\n"
                                       "    net.hidden.W/sgd.v: f32[2]\n"
                                       "    net.hidden2.W: f64[1]\n"
                                       "  in the file and not used:\n"
                                       "    net.hidden.W/adam.m: f32[2]\n");
  // Without a scope everything must fit; the message says how to go on.
  status = load();
  EXPECT_NE(std::string(status.message()).find("hint: these are states of optimizers; --only"),
            std::string::npos)
      << status;
}

TEST_F(Variables, ErrorsListWhatDoesNotFitAndChangeNothing) {
  ASSERT_TRUE(writeTensors(path, refsTo(variables)).ok());
  clear();
  variables[0].tensor = makeTensor<float>({3}, {0, 0, 0});
  variables[1].name = "net.hidden.V";
  absl::Status status = load();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), path +
                                               " does not fit the program:\n"
                                               "  variables that the file lacks:\n"
                                               "    net.hidden.V: f32[2]\n"
                                               "  variables of another type or shape:\n"
                                               "    net.hidden.W: expected f32[3], found f32[2]\n"
                                               "  tensors that the program does not know:\n"
                                               "    net.hidden.W/adam.m: f32[2]");
  EXPECT_EQ(variables[2].tensor.values<double>()[0], 0);
}

TEST_F(Variables, RefusesOtherForms) {
  EXPECT_NE(writeTensors("x.pt", refsTo(variables)).ToString().find(".safetensors or .npz"),
            std::string::npos);
  EXPECT_FALSE(readTensors("x.pt").ok());
}

TEST_F(Variables, NaNsAreOneValue) {
  std::vector<NamedTensor> tensors;
  tensors.push_back({"a", *HostTensor::create(DType::F32, {3})});
  tensors.push_back({"b", *HostTensor::create(DType::BF16, {2})});
  uint32_t words[] = {0xffc00001, 0xff800000, 0x7f800001};
  uint16_t halves[] = {0xffff, 0xff80};
  std::memcpy(tensors[0].tensor.bytes(), words, sizeof(words));
  std::memcpy(tensors[1].tensor.bytes(), halves, sizeof(halves));
  ASSERT_TRUE(writeTensors(path, refsTo(tensors)).ok());
  absl::StatusOr<std::vector<NamedTensor>> read = readTensors(path);
  ASSERT_TRUE(read.ok()) << read.status();
  uint32_t expectedWords[] = {0x7fc00000, 0xff800000, 0x7fc00000};
  uint16_t expectedHalves[] = {0x7fc0, 0xff80};
  EXPECT_EQ(std::memcmp((*read)[0].tensor.bytes(), expectedWords, sizeof(words)), 0);
  EXPECT_EQ(std::memcmp((*read)[1].tensor.bytes(), expectedHalves, sizeof(halves)), 0);
}

// A failed save leaves the file that was there.
TEST_F(Variables, FailedSaveKeepsTheOldFile) {
  ASSERT_TRUE(writeTensors(path, refsTo(variables)).ok());
  std::string before = readBytes(path);
  std::vector<TensorRef> twice = refsTo(variables);
  twice.push_back(twice[0]);
  EXPECT_FALSE(writeTensors(path, twice).ok());
  EXPECT_EQ(readBytes(path), before);
  EXPECT_EQ(folder.count(), 1u);
}

} // namespace
} // namespace pdg

// .npz: round trips (also with 64-bit fields), agreement with NumPy, and refusal of damage.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/npz.h"

#include "test/runtime/checkpoint/files.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

void expectEqual(const std::vector<NamedTensor> &found, const std::vector<NamedTensor> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    expectEqual(found[i].tensor, expected[i].tensor);
  }
}

TEST(Npz, RoundTrip) {
  TempFolder folder;
  std::vector<NamedTensor> tensors = makeAllTypes();
  ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors)).ok());
  absl::StatusOr<std::vector<NamedTensor>> read = readNpz(folder.file("t.npz"));
  ASSERT_TRUE(read.ok()) << read.status();
  expectEqual(*read, tensors);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Npz, RoundTripWith64BitFields) {
  TempFolder folder;
  std::vector<NamedTensor> tensors = makeAllTypes();
  for (uint64_t from : {0, 150, 600}) {
    ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors), from).ok());
    absl::StatusOr<std::vector<NamedTensor>> read = readNpz(folder.file("t.npz"));
    ASSERT_TRUE(read.ok()) << read.status();
    expectEqual(*read, tensors);
  }
}

TEST(Npz, Empty) {
  TempFolder folder;
  ASSERT_TRUE(writeNpz(folder.file("t.npz"), {}).ok());
  absl::StatusOr<std::vector<NamedTensor>> read = readNpz(folder.file("t.npz"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->empty());
}

TEST(Npz, ReadsOneByName) {
  TempFolder folder;
  std::vector<NamedTensor> tensors = makeAllTypes();
  ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors)).ok());
  absl::StatusOr<HostTensor> scalar = readNpz(folder.file("t.npz"), "scalar");
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->values<double>()[0], 0.1);
  absl::StatusOr<HostTensor> unknown = readNpz(folder.file("t.npz"), "skalar");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(unknown.status().ToString().find("scalar, empty"), std::string::npos);
}

TEST(Npz, RefusesEqualNames) {
  TempFolder folder;
  HostTensor tensor = makeTensor<float>({}, {1});
  std::vector<TensorRef> refs = {{"a", &tensor}, {"a", &tensor}};
  EXPECT_FALSE(writeNpz(folder.file("t.npz"), refs).ok());
  EXPECT_EQ(folder.count(), 0u);
}

TEST(Npz, RefusesNamesThatNoTerminalShows) {
  TempFolder folder;
  HostTensor one = HostTensor::fromValues<float>({1}, {1}).value();
  ASSERT_TRUE(writeNpz(folder.file("t.npz"), std::vector<TensorRef>{{"a\033b", &one}}).ok());
  EXPECT_NE(readNpz(folder.file("t.npz")).status().ToString().find("has control characters"),
            std::string::npos);
}

TEST(Npz, ChecksumGuardsElements) {
  TempFolder folder;
  std::vector<NamedTensor> tensors;
  tensors.push_back({"a", makePattern(DType::U8, {1000})});
  ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors)).ok());
  std::string bytes = readBytes(folder.file("t.npz"));
  bytes[500] ^= 1;
  writeBytes(folder.file("t.npz"), bytes);
  absl::StatusOr<std::vector<NamedTensor>> read = readNpz(folder.file("t.npz"));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(read.status().ToString().find("t.npz: member 'a' is damaged: its checksum is wrong"),
            std::string::npos)
      << read.status();
}

TEST(Npz, DamageDoesNotCrash) {
  TempFolder folder;
  std::vector<NamedTensor> tensors;
  tensors.push_back({"a", makePattern(DType::F32, {2, 3})});
  tensors.push_back({"b", makePattern(DType::U8, {30})});
  std::mt19937 random(3);
  int refused = 0;
  for (uint64_t from : {kZip64From, uint64_t{0}}) {
    ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors), from).ok());
    std::string whole = readBytes(folder.file("t.npz"));
    for (int round = 0; round < 1500; ++round) {
      writeBytes(folder.file("t.npz"), damage(whole, random));
      refused += !readNpz(folder.file("t.npz")).ok();
    }
  }
  EXPECT_GT(refused, 2000);
}

// NumPy reads what we write, whatever the fields' width, and we read its stored and its deflated
// archives; damage to the latter is found.
TEST(Npz, NumPyAgrees) {
  TempFolder folder;
  std::vector<NamedTensor> tensors;
  tensors.push_back({"net.W/adam.m", makeTensor<float>({2, 2}, {1, 2, 3, 0.5f})});
  tensors.push_back({"größe", makeTensor<int64_t>({}, {7})});
  for (uint64_t from : {kZip64From, uint64_t{0}, uint64_t{250}}) {
    ASSERT_TRUE(writeNpz(folder.file("t.npz"), refsTo(tensors), from).ok());
    int status = runPython("import sys, numpy as np, zipfile\n"
                           "assert zipfile.ZipFile(sys.argv[1]).testzip() is None\n"
                           "d = np.load(sys.argv[1])\n"
                           "assert list(d) == [\"net.W/adam.m\", \"größe\"]\n"
                           "assert d[\"net.W/adam.m\"].dtype == np.float32\n"
                           "assert d[\"net.W/adam.m\"].tolist() == [[1, 2], [3, 0.5]]\n"
                           "assert d[\"größe\"].shape == () and d[\"größe\"] == 7\n"
                           "a = np.arange(60000, dtype=np.int32).reshape(300, 200)\n"
                           "np.savez(sys.argv[1] + \".stored.npz\", a=a, b=a.T > 9)\n"
                           "np.savez_compressed(sys.argv[1] + \".deflated.npz\", a=a, b=a.T > 9)",
                           folder.file("t.npz"));
    if (status < 0)
      GTEST_SKIP() << "no NumPy";
    ASSERT_EQ(status, 0);
  }
  for (const char *form : {".stored.npz", ".deflated.npz"}) {
    std::string path = folder.file("t.npz") + form;
    absl::StatusOr<std::vector<NamedTensor>> read = readNpz(path);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].tensor.typeString(), "i32[300, 200]");
    EXPECT_EQ((*read)[0].tensor.values<int32_t>()[59999], 59999);
    EXPECT_EQ((*read)[1].tensor.typeString(), "bool[200, 300]");
    EXPECT_EQ((*read)[1].tensor.bytes()[0], 0);
    EXPECT_EQ((*read)[1].tensor.bytes()[1], 1);

    std::string whole = readBytes(path);
    std::mt19937 random(4);
    for (int round = 0; round < 150; ++round) {
      writeBytes(path, damage(whole, random));
      (void)readNpz(path);
    }
  }
}

} // namespace
} // namespace pdg

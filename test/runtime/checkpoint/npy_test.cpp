// .npy: what we write reads back and is what NumPy reads; what is not one is refused with a reason.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/npy.h"

#include "test/runtime/checkpoint/files.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

std::string npy(const std::string &dictionary, const std::string &elements, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(dictionary.size() >> (8 * i));
  return bytes + dictionary + elements;
}

absl::StatusOr<HostTensor> parse(const std::string &bytes) {
  size_t at = 0;
  return parseNpy("x.npy", bytes.size(), [&](void *to, uint64_t size) {
    EXPECT_LE(size, bytes.size() - at);
    std::memcpy(to, bytes.data() + at, size);
    at += size;
    return absl::OkStatus();
  });
}

void expectRefused(const std::string &bytes, const std::string &reason) {
  absl::StatusOr<HostTensor> tensor = parse(bytes);
  ASSERT_FALSE(tensor.ok()) << reason;
  EXPECT_NE(std::string(tensor.status().message()).find(reason), std::string::npos)
      << tensor.status();
}

TEST(Npy, RoundTripOfAllTypes) {
  TempFolder folder;
  for (const NamedTensor &named : makeAllTypes()) {
    ASSERT_TRUE(writeNpy(folder.file("t.npy"), named.tensor).ok());
    absl::StatusOr<HostTensor> read = readNpy(folder.file("t.npy"));
    ASSERT_TRUE(read.ok()) << read.status();
    expectEqual(*read, named.tensor);
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Npy, HeadersAreAligned) {
  for (int64_t size : {int64_t{1}, int64_t{1000}, INT64_MAX})
    EXPECT_EQ(makeNpyHeader(DType::F32, std::vector<int64_t>(7, size)).size() % 64, 0u);
}

TEST(Npy, ReadsOtherLayouts) {
  std::string floats("\x3f\x80\0\0\xc0\0\0\0", 8);
  absl::StatusOr<HostTensor> swapped =
      parse(npy("{\"shape\": (2,), 'fortran_order': True, 'descr': '>f4'}\n", floats, 3));
  ASSERT_TRUE(swapped.ok()) << swapped.status();
  EXPECT_EQ(swapped->values<float>()[0], 1.0f);
  EXPECT_EQ(swapped->values<float>()[1], -2.0f);

  absl::StatusOr<HostTensor> columns =
      parse(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2L, 3L), }", "\1\4\2\5\3\6"));
  ASSERT_TRUE(columns.ok()) << columns.status();
  expectEqual(*columns, makeTensor<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(Npy, BoolsBecomeZeroOrOne) {
  absl::StatusOr<HostTensor> read =
      parse(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\7\0", 2)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bytes()[0], 1);
  EXPECT_EQ(read->bytes()[1], 0);
}

TEST(Npy, RefusesWithReasons) {
  auto header = [](const std::string &descr, const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}";
  };
  expectRefused("", "no .npy file");
  expectRefused("PK\3\4 and so on", "expected a .npy file");
  expectRefused(npy(header("'<f4'", "()"), "1234", 9), "format 1, 2 or 3, found 9");
  expectRefused(npy(header("'<u4'", "()"), "1234"), "elements of type '<u4' are not supported");
  expectRefused(npy(header("'|O'", "()"), "1234"), "elements of type '|O'");
  expectRefused(npy(header("[('a', '<f4')]", "()"), "1234"), "records are not supported");
  expectRefused(npy(header("'<f4'", "(2,)"), "1234"), "expected 8 bytes of elements for f32[2]");
  expectRefused(npy(header("'<f4'", "(1,)"), "12345"), "found 5");
  expectRefused(npy(header("'<f4'", "(4294967296, 4294967296)"), ""), "exceeds");
  expectRefused(npy(header("'<f4'", "(99999999999999999999,)"), ""), "a tuple of sizes");
  expectRefused(npy(header("'<f4'", "(-1,)"), ""), "a tuple of sizes");
  expectRefused(npy("{'descr': '<f4', 'shape': ()}", "1234"), "damaged .npy header");
  expectRefused(npy("{", ""), "damaged .npy header");
  expectRefused(npy("", "").substr(0, 8) + "\xff\xff", "does not fit into the file");
}

TEST(Npy, NamesTheFile) {
  absl::StatusOr<HostTensor> missing = readNpy("/nonexistent/x.npy");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().ToString().find("/nonexistent/x.npy"), std::string::npos);
  EXPECT_FALSE(readNpy("/dev/null").ok());
  HostTensor tensor = makeTensor<float>({}, {1});
  EXPECT_FALSE(writeNpy("/nonexistent/x.npy", tensor).ok());
  EXPECT_FALSE(writeNpy("/dev/null", tensor).ok());
}

TEST(Npy, DamageDoesNotCrash) {
  HostTensor tensor = makePattern(DType::I32, {3, 4});
  std::string whole = makeNpyHeader(DType::I32, {3, 4});
  whole.append(reinterpret_cast<char *>(tensor.bytes()), 48);
  ASSERT_TRUE(parse(whole).ok());
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round)
    (void)parse(damage(whole, random));
}

TEST(Npy, NumPyAgrees) {
  TempFolder folder;
  HostTensor tensor = makeTensor<float>({2, 3}, {0, 1, 2, 3, 4, 0.5f});
  ASSERT_TRUE(writeNpy(folder.file("t.npy"), tensor).ok());
  int status = runPython("import sys, numpy as np\n"
                         "a = np.load(sys.argv[1])\n"
                         "assert a.dtype == np.float32 and a.shape == (2, 3) and a[1, 2] == 0.5\n"
                         "np.save(sys.argv[1], np.asfortranarray(a.astype(\">f8\")))",
                         folder.file("t.npy"));
  if (status < 0)
    GTEST_SKIP() << "no NumPy";
  ASSERT_EQ(status, 0);
  absl::StatusOr<HostTensor> read = readNpy(folder.file("t.npy"));
  ASSERT_TRUE(read.ok()) << read.status();
  expectEqual(*read, makeTensor<double>({2, 3}, {0, 1, 2, 3, 4, 0.5}));
}

} // namespace
} // namespace pdg

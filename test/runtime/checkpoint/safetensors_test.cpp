// safetensors: round trips, the layout that the format asks for, and refusal of everything else.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/safetensors.h"

#include "test/runtime/checkpoint/files.h"

#include <gtest/gtest.h>

#include <map>

namespace pdg {
namespace {

class Safetensors : public testing::Test {
protected:
  // A file with the given header and data.
  absl::StatusOr<std::vector<NamedTensor>> read(const std::string &header,
                                                const std::string &data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
      bytes += static_cast<char>(header.size() >> (8 * i));
    writeBytes(path, bytes + header + data);
    return readSafetensors(path);
  }

  void expectRefused(const std::string &header, const std::string &data,
                     const std::string &reason) {
    absl::StatusOr<std::vector<NamedTensor>> tensors = read(header, data);
    ASSERT_FALSE(tensors.ok()) << reason;
    std::string message(tensors.status().message());
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find(path), 0u) << message;
  }

  TempFolder folder;
  std::string path = folder.file("t.safetensors");
};

std::string entry(const std::string &name, const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST_F(Safetensors, RoundTrip) {
  std::vector<NamedTensor> tensors = makeAllTypes();
  ASSERT_TRUE(writeSafetensors(path, refsTo(tensors)).ok());
  absl::StatusOr<std::vector<NamedTensor>> found = readSafetensors(path);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), tensors.size());
  std::map<std::string, const HostTensor *> byName;
  for (const NamedTensor &named : *found)
    byName[named.name] = &named.tensor;
  for (const NamedTensor &named : tensors) {
    ASSERT_TRUE(byName.count(named.name)) << named.name;
    expectEqual(*byName[named.name], named.tensor);
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST_F(Safetensors, ReadsPlainFile) {
  absl::StatusOr<std::vector<NamedTensor>> found =
      read("{\"__metadata__\":{\"format\":\"np\"}," + entry("b", "I8", "[3]", "[4,7]") + "," +
               entry("a", "F32", "[]", "[0,4]") + "}  ",
           std::string("\0\0\x80\x3f\1\2\3", 7));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "a");
  EXPECT_EQ((*found)[0].tensor.values<float>()[0], 1.0f);
  EXPECT_EQ((*found)[1].tensor.values<int8_t>()[2], 3);
}

TEST_F(Safetensors, RefusesWithReasons) {
  expectRefused("{", "", "not a JSON object");
  expectRefused("[]", "", "not a JSON object");
  expectRefused("{}", "x", "expected 0 bytes behind the header, found 1");
  expectRefused("{\"a\":3}", "", "tensor 'a': expected dtype, shape and data_offsets");
  expectRefused("{" + entry("a", "F8_E4M3", "[1]", "[0,1]") + "}", "x", "\"F8_E4M3\"");
  expectRefused("{" + entry("a", "U8", "[-1]", "[0,1]") + "}", "x", "sizes >= 0");
  expectRefused("{" + entry("a", "U8", "[1.5]", "[0,1]") + "}", "x", "sizes >= 0");
  expectRefused("{" + entry("a", "U8", "7", "[0,1]") + "}", "x", "a list of sizes");
  expectRefused("{" + entry("a", "U8", "[1]", "[1,0]") + "}", "x", "increasing data_offsets");
  expectRefused("{" + entry("a", "U8", "[1]", "[0]") + "}", "x", "increasing data_offsets");
  expectRefused("{" + entry("a", "F32", "[2]", "[0,4]") + "}", "1234",
                "expected 8 bytes for f32[2], found data_offsets of 4 bytes");
  expectRefused("{" + entry("a", "U8", "[4294967296,4294967296]", "[0,0]") + "}", "", "exceeds");
  expectRefused("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") +
                    "}",
                "abc", "tensor 'b': expected to begin at byte 2 of the data, found 1 (an overlap)");
  expectRefused("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") +
                    "}",
                "abc", "(a gap)");
  expectRefused("{" + entry("a", "U8", "[4]", "[0,4]") + "}", "abc", "found 3");
  expectRefused("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") +
                    "}",
                "ab", "the key 'a' twice");
  writeBytes(path, "PK");
  EXPECT_FALSE(readSafetensors(path).ok());
  writeBytes(path, std::string(8, '\xff'));
  EXPECT_FALSE(readSafetensors(path).ok());
}

TEST_F(Safetensors, RefusesEqualNames) {
  HostTensor tensor = makeTensor<float>({}, {1});
  std::vector<TensorRef> refs = {{"a", &tensor}, {"a", &tensor}};
  EXPECT_FALSE(writeSafetensors(path, refs).ok());
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(Safetensors, DamageDoesNotCrash) {
  std::vector<NamedTensor> tensors = makeAllTypes();
  ASSERT_TRUE(writeSafetensors(path, refsTo(tensors)).ok());
  std::string whole = readBytes(path);
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    writeBytes(path, damage(whole, random));
    refused += !readSafetensors(path).ok();
  }
  EXPECT_GT(refused, 1000);
}

// The rules of the format, checked by an independent reader (and by the Python package, if there).
TEST_F(Safetensors, PythonAgrees) {
  std::vector<NamedTensor> tensors;
  tensors.push_back({"flag", makeTensor<uint8_t>({3}, {1, 2, 3})});
  tensors.push_back({"net.W", makeTensor<float>({2, 2}, {1, 2, 3, 0.5f})});
  tensors.push_back({"step", makeTensor<int64_t>({}, {7})});
  ASSERT_TRUE(writeSafetensors(path, refsTo(tensors)).ok());
  int status =
      runPython("import sys, json, struct, numpy as np\n"
                "b = open(sys.argv[1], \"rb\").read()\n"
                "n, = struct.unpack(\"<Q\", b[:8])\n"
                "assert b[8:9] == b\"{\" and (8 + n) % 8 == 0\n"
                "h = json.loads(b[8:8 + n])\n"
                "at = 0\n"
                "for k, v in sorted(h.items(), key=lambda i: i[1][\"data_offsets\"]):\n"
                "    assert v[\"data_offsets\"][0] == at\n"
                "    at = v[\"data_offsets\"][1]\n"
                "assert 8 + n + at == len(b)\n"
                "o = 8 + n + h[\"net.W\"][\"data_offsets\"][0]\n"
                "assert o % 4 == 0 and h[\"net.W\"][\"shape\"] == [2, 2]\n"
                "assert np.frombuffer(b, np.float32, 4, o).tolist() == [1, 2, 3, 0.5]\n"
                "try: import safetensors.numpy as s\n"
                "except ImportError: sys.exit(0)\n"
                "d = s.load_file(sys.argv[1])\n"
                "assert d[\"net.W\"].tolist() == [[1, 2], [3, 0.5]] and d[\"step\"] == 7\n",
                path);
  if (status < 0)
    GTEST_SKIP() << "no NumPy";
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace pdg

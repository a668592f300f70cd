// IDX files of every element type, and every way in which one can be wrong.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/idx_reader.h"

#include "runtime/base/tensor.h"
#include "test/runtime/data/data_files_fixture.h"

#include <cstring>

namespace pdg {
namespace {

class IdxReaderTest : public DataFilesTest {
protected:
  absl::StatusOr<ExampleTable> load(const std::vector<std::string> &paths) {
    return loadFiles(source, paths);
  }

  /// Loads one file and returns its elements.
  template <typename T> std::vector<T> loadValues(std::string_view bytes) {
    absl::StatusOr<ExampleTable> table = load({write("f", bytes)});
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok())
      return {};
    return elementsOf<T>(*table, 0);
  }

  /// Loads one file that is wrong and returns the message without the path.
  std::string errorOf(std::string_view bytes, const std::string &name = "f") {
    std::string path = write(name, bytes);
    absl::StatusOr<ExampleTable> table = load({path});
    if (table.ok())
      return "no error";
    std::string message(table.status().message());
    EXPECT_EQ(message.substr(0, path.size() + 2), path + ": ");
    return message.substr(path.size() + 2);
  }

  IdxReaderTest() { source.reader = "idx"; }

  SourceInfo source;
};

TEST_F(IdxReaderTest, ReadsEveryElementType) {
  using std::string_literals::operator""s;
  EXPECT_EQ(loadValues<uint8_t>(idxHeader(0x08, {2}) + "\x01\xff"), (std::vector<uint8_t>{1, 255}));
  EXPECT_EQ(loadValues<int8_t>(idxHeader(0x09, {2}) + "\x01\xff"), (std::vector<int8_t>{1, -1}));
  EXPECT_EQ(loadValues<int32_t>(idxHeader(0x0b, {3}) + "\x01\x02\xff\xfe\x7f\xff"),
            (std::vector<int32_t>{258, -2, 32767}));
  EXPECT_EQ(loadValues<int32_t>(idxHeader(0x0c, {2}) + "\x01\x02\x03\x04\xff\xff\xff\xff"),
            (std::vector<int32_t>{0x01020304, -1}));
  EXPECT_EQ(loadValues<float>(idxHeader(0x0d, {2}) + "\x3f\xc0\0\0\xc0\0\0\0"s),
            (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(loadValues<double>(idxHeader(0x0e, {1}) + "\x3f\xf8\0\0\0\0\0\0"s),
            (std::vector<double>{1.5}));
}

TEST_F(IdxReaderTest, WidensAcrossPieces) {
  constexpr uint32_t kCount = 200000; // More than one piece of conversion.
  std::string bytes = idxHeader(0x0b, {kCount});
  std::vector<int32_t> expected;
  for (uint32_t i = 0; i < kCount; ++i) {
    int16_t value = static_cast<int16_t>(i * 7919);
    bytes.push_back(static_cast<char>(static_cast<uint16_t>(value) >> 8));
    bytes.push_back(static_cast<char>(value));
    expected.push_back(value);
  }
  EXPECT_EQ(loadValues<int32_t>(bytes), expected);
}

TEST_F(IdxReaderTest, DescribesAnExampleByItsFiles) {
  std::vector<std::string> paths = {write("images", idxBytes({5, 3, 2})),
                                    write("labels.gz", gzip(idxBytes({5})))};
  absl::StatusOr<SourceHeader> header = probeFiles(source, paths);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->numExamples, 5);
  EXPECT_EQ(typeString(header->fields), "(u8[3, 2], u8)");
}

TEST_F(IdxReaderTest, ReadsAFileWithoutExamples) {
  EXPECT_EQ(loadValues<uint8_t>(idxBytes({0, 28, 28})), std::vector<uint8_t>{});
}

TEST_F(IdxReaderTest, FindsFilesOfDifferentLength) {
  std::string images = write("images", idxBytes({5, 2})), labels = write("labels", idxBytes({4}));
  EXPECT_EQ(load({images, labels}).status().message(),
            labels + ": expects 5 examples, as in " + images + ", found 4");
}

TEST_F(IdxReaderTest, FindsAWrongHeader) {
  std::string good = idxBytes({2, 3});
  auto changed = [&](size_t at, uint8_t to) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(to);
    return bytes;
  };
  EXPECT_EQ(errorOf(changed(1, 0x41)), "expects an IDX file, which begins with the bytes 00 00, "
                                       "found 00 41 at byte 0");
  EXPECT_EQ(errorOf(changed(2, 0x0a)), "expects an IDX element type (08 u8, 09 i8, 0b i16, 0c i32, "
                                       "0d f32, 0e f64), found 0a at byte 2");
  EXPECT_EQ(errorOf(changed(3, 0)), "expects 1 to 8 dimensions, found 0 at byte 3");
  EXPECT_EQ(errorOf(changed(3, 9)), "expects 1 to 8 dimensions, found 9 at byte 3");
  EXPECT_EQ(errorOf(changed(11, 0)), "expects a size of at least 1 for axis 1, found 0");
  EXPECT_EQ(errorOf(idxHeader(0x0e, {0xffffffff, 0xffffffff, 0xffffffff})),
            "expects f64[4294967295, 4294967295, 4294967295], as the header says, found 16 bytes: "
            "the file is cut off or its header wrong");
}

TEST_F(IdxReaderTest, FindsEveryTruncation) {
  std::string good = idxBytes({4, 3});
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(errorOf(good.substr(0, length)), "no error") << length;
    EXPECT_NE(errorOf(gzip(good.substr(0, length))), "no error") << length;
  }
  EXPECT_EQ(errorOf(good.substr(0, 3)),
            "expects an IDX header of at least 4 bytes, found the end after 3");
  EXPECT_EQ(errorOf(good.substr(0, 10)),
            "expects an IDX header of at least 12 bytes, found the end after 10");
  EXPECT_EQ(errorOf(good.substr(0, 20)),
            "expects u8[4, 3] (24 bytes), as the header says, found 20 bytes: the file is cut off "
            "or its header wrong");
  EXPECT_EQ(errorOf(gzip(good.substr(0, 20))),
            "expects 24 bytes after unpacking (u8[4, 3]), found the end after 20");
}

TEST_F(IdxReaderTest, FindsSurplusData) {
  std::string good = idxBytes({4, 3});
  EXPECT_EQ(errorOf(good + "x"), "expects the end of the file after 24 bytes (u8[4, 3]), found 25");
  EXPECT_EQ(errorOf(gzip(good + "x")),
            "expects the end of the data after 24 bytes after unpacking (u8[4, 3]), found more");
}

TEST_F(IdxReaderTest, ProvesTheChecksumOfThePackedData) {
  std::string packed = gzip(idxBytes({4, 3}));
  packed[packed.size() - 6] ^= 1;
  EXPECT_NE(errorOf(packed, "f.gz").find("incorrect data check"), std::string::npos);
  packed.resize(packed.size() - 8);
  EXPECT_NE(errorOf(packed, "f.gz").find("the file is cut off"), std::string::npos);
}

TEST_F(IdxReaderTest, JoinsTheFilesOfAField) {
  std::string a = write("a", idxBytes({2, 2})), b = write("b.gz", gzip(idxBytes({1, 2}))),
              empty = write("c", idxBytes({0, 2})), d = write("d", idxBytes({3, 2})),
              x = write("x", idxBytes({2})), y = write("y", idxBytes({1})),
              z = write("z", idxBytes({0})), w = write("w", idxBytes({3}));
  ExampleTable table = loadGroups(source, {{a, b, empty, d}, {x, y, z, w}}).value();
  EXPECT_EQ(elementsOf<uint8_t>(table, 0),
            (std::vector<uint8_t>{0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(elementsOf<uint8_t>(table, 1), (std::vector<uint8_t>{0, 1, 0, 0, 1, 2}));
  EXPECT_EQ(loadGroups(source, {{a, b}, {x}}).status().message(),
            "expects 2 files for each field, as " + a +
                " and those that follow it, found 1, from " + x + " on");
  EXPECT_EQ(loadGroups(source, {{a, b}, {y, x}}).status().message(),
            y + ": expects 2 examples, as in " + a + ", found 1");
  EXPECT_EQ(loadGroups(source, {{a, x}}).status().message(),
            x + ": expects examples u8[2], as in " + a + ", found u8");
}

TEST_F(IdxReaderTest, NeedsAFile) { EXPECT_FALSE(load({}).ok()); }

} // namespace
} // namespace pdg

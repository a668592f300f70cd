// NumPy's files as data: fields from files and from members of archives.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/npy_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "test/runtime/data/data_files_fixture.h"

namespace pdg {
namespace {

class NpyReaderTest : public DataFilesTest {
protected:
  std::string message(const absl::StatusOr<ExampleTable> &table) {
    return std::string(table.status().message());
  }

  std::string writeArchive(const std::string &name, std::vector<TensorRef> tensors) {
    std::string path = (folder / name).string();
    EXPECT_TRUE(writeNpz(path, tensors).ok());
    return path;
  }

  SourceInfo source;
};

TEST_F(NpyReaderTest, AFileIsAField) {
  source.reader = "npy";
  std::string floats(24, '\0');
  for (int i = 0; i < 6; ++i) {
    float value = static_cast<float>(i);
    std::memcpy(floats.data() + 4 * i, &value, 4);
  }
  std::string x = write("x.npy", makeNpyHeader(DType::F32, {3, 2}) + floats);
  std::string bools = makeNpyHeader(DType::Bool, {3}) + std::string("\0\7\1", 3);
  std::string y = write("y.npy.gz", gzip(bools));
  ExampleTable table = loadFiles(source, {x, y}).value();
  EXPECT_EQ(elementsOf<float>(table, 0), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(table.columns[1].bytes.data()), 3),
            std::string("\0\1\1", 3));
}

TEST_F(NpyReaderTest, ReadsBigEndian) {
  source.reader = "npy";
  std::string text = "{'descr': '>i4', 'fortran_order': True, 'shape': (2,), }\n";
  std::string file = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' +
                     text + std::string("\0\0\1\2\xff\xff\xff\xfe", 8);
  EXPECT_EQ(elementsOf<int32_t>(loadFiles(source, {write("x.npy", file)}).value(), 0),
            (std::vector<int32_t>{258, -2}));
}

TEST_F(NpyReaderTest, TurnsColumnMajorFiles) {
  source.reader = "npy";
  std::string text = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  auto file = [&](const std::string &elements) {
    return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text +
           elements;
  };
  text = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::string x = write("x.npy", file("adbecf")), y = write("y.npy.gz", gzip(file("ADBECF")));
  source.files = {"*"};
  ExampleTable table = loadFiles(source, {x, y}).value();
  EXPECT_EQ(elementsOf<uint8_t>(table, 0), (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(elementsOf<uint8_t>(table, 1), (std::vector<uint8_t>{'A', 'B', 'C', 'D', 'E', 'F'}));
  text = "{'descr': '>f4', 'fortran_order': True, 'shape': (1, 2, 2), }\n";
  std::string z =
      write("z.npy", file(std::string("\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0", 16)));
  EXPECT_EQ(elementsOf<float>(loadFiles(source, {z}).value(), 0), (std::vector<float>{1, 3, 2, 4}));
  std::string cut = write("w.npy", file("1234"));
  EXPECT_NE(message(loadFiles(source, {cut})).find("as the header says"), std::string::npos);
}

TEST_F(NpyReaderTest, RefusesWhatHasNoExamples) {
  source.reader = "npy";
  std::string scalar = write("s.npy", makeNpyHeader(DType::F32, {}) + "1234");
  EXPECT_EQ(message(loadFiles(source, {scalar})),
            scalar + ": expects an array whose first axis is the examples, found a scalar");
  std::string cut = write("t.npy", makeNpyHeader(DType::F64, {4, 3}) + std::string(95, ' '));
  EXPECT_EQ(message(loadFiles(source, {cut})),
            cut + ": expects f64[4, 3] (224 bytes), as the header says, found 223 bytes: the file "
                  "is cut off or its header wrong");
  std::string vast = write("v.npy", makeNpyHeader(DType::F64, {INT64_MAX, INT64_MAX}));
  EXPECT_NE(message(loadFiles(source, {vast})).find("as the header says"), std::string::npos);
}

TEST_F(NpyReaderTest, TakesArraysOfAnArchive) {
  source.reader = "npz";
  HostTensor x = HostTensor::fromValues<float>({2, 1}, {1, 2}).value();
  HostTensor y = HostTensor::fromValues<int64_t>({2}, {3, 4}).value();
  HostTensor z = HostTensor::fromValues<float>({3}, {5, 6, 7}).value();
  std::string first = writeArchive("a.npz", {{"x", &x}, {"y", &y}, {"z", &z}});
  source.options = {{"fields", listOption({"y", "x"})}};
  ExampleTable table = loadFiles(source, {first, first}).value();
  EXPECT_EQ(elementsOf<int64_t>(table, 0), (std::vector<int64_t>{3, 4, 3, 4}));
  EXPECT_EQ(elementsOf<float>(table, 1), (std::vector<float>{1, 2, 1, 2}));
  source.options = {{"fields", listOption({"x", "z"})}};
  EXPECT_EQ(message(loadFiles(source, {first})),
            first + ": expects 2 examples in 'z', as in 'x', found 3");
  source.options = {{"fields", listOption({"w"})}};
  EXPECT_EQ(message(loadFiles(source, {first})), first + ": expects an array 'w', found x, y, z");
  source.options = {};
  EXPECT_EQ(message(loadFiles(source, {first})),
            first + ": holds x, y, z; expects 'fields' to say which are wanted, such as fields: "
                    "[\"x\"]");
  std::string only = writeArchive("b.npz", {{"z", &z}});
  EXPECT_EQ(elementsOf<float>(loadFiles(source, {only}).value(), 0), (std::vector<float>{5, 6, 7}));
}

} // namespace
} // namespace pdg

// CSV files: their grammar, the target column, and messages with line and column.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/csv_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/data/csv_scanner.h"
#include "test/runtime/data/data_files_fixture.h"

#include <cmath>
#include <cstring>

namespace pdg {
namespace {

class CsvReaderTest : public DataFilesTest {
protected:
  absl::StatusOr<ExampleTable> load(std::string_view text, const std::string &name = "f.csv") {
    std::vector<std::string> paths = {write(name, text)};
    return loadCsv({source, paths});
  }

  static std::vector<float> valuesOf(const ExampleTable &table, size_t field) {
    const FieldColumn &column = table.columns[field];
    std::vector<float> values(table.numExamples * column.exampleBytes / sizeof(float));
    if (!values.empty())
      std::memcpy(values.data(), column.bytes.data(), values.size() * sizeof(float));
    return values;
  }

  /// Loads a good file without a target and returns its numbers.
  std::vector<float> loadValues(std::string_view text, const std::string &name = "f.csv") {
    absl::StatusOr<ExampleTable> table = load(text, name);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? valuesOf(*table, 0) : std::vector<float>{};
  }

  /// Loads a wrong file and returns the message from the line number on.
  std::string errorOf(std::string_view text) {
    absl::StatusOr<ExampleTable> table = load(text);
    if (table.ok())
      return "no error";
    std::string message(table.status().message()), path = (folder / "f.csv").string();
    EXPECT_EQ(message.substr(0, path.size() + 1), path + ":");
    return message.substr(path.size() + 1);
  }

  SourceInfo source;
};

using Floats = std::vector<float>;

TEST_F(CsvReaderTest, ReadsNumbers) {
  EXPECT_EQ(loadValues("x,y\n1,2\n-3.5,+4e2\n"), (Floats{1, 2, -3.5f, 400}));
  EXPECT_EQ(loadValues("x\n 1 \n\t2\n1e-60\ninf\n"), (Floats{1, 2, 0, INFINITY}));
  EXPECT_TRUE(std::isnan(loadValues("x\nnan\n").at(0)));
  EXPECT_EQ(loadValues("x,y\n"), Floats{});
}

TEST_F(CsvReaderTest, AcceptsEveryLineEnd) {
  for (const char *text :
       {"x,y\n1,2\n3,4", "x,y\r\n1,2\r\n3,4\r\n", "\xef\xbb\xbfx,y\n1,2\n3,4\n",
        "\n\nx,y\n\n1,2\r\n\r\n  \n3,4\n\n", "\"x\",\"y\"\r\n\"1\",2\r\n3,\"4\""})
    EXPECT_EQ(loadValues(text), (Floats{1, 2, 3, 4})) << text;
}

TEST_F(CsvReaderTest, ReadsPackedFiles) {
  EXPECT_EQ(loadValues(gzip("x\n1\n2\n"), "f.csv.gz"), (Floats{1, 2}));
}

TEST_F(CsvReaderTest, ReadsFilesLongerThanItsBuffer) {
  std::string text = "x,y\n";
  Floats expected;
  for (int i = 0; i < 30000; ++i) {
    text += std::to_string(i) + "," + std::to_string(-i) + "\n";
    expected.insert(expected.end(), {static_cast<float>(i), static_cast<float>(-i)});
  }
  EXPECT_EQ(loadValues(text), expected);
  EXPECT_EQ(errorOf(text + "1,?\n").substr(0, 8), "30002:3:");
}

TEST_F(CsvReaderTest, TakesTheTargetOut) {
  source.target = "the, \"target\"";
  absl::StatusOr<ExampleTable> table = load("x,\"the, \"\"target\"\"\",y\n1,2,3\n4,5,6\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->numExamples, 2);
  EXPECT_EQ(valuesOf(*table, 0), (Floats{1, 3, 4, 6}));
  EXPECT_EQ(valuesOf(*table, 1), (Floats{2, 5}));
}

TEST_F(CsvReaderTest, ProbesTheFirstLineOnly) {
  source.target = "y";
  std::vector<std::string> paths = {write("f.csv", "x,y,z\nnot a number")};
  absl::StatusOr<SourceHeader> header = probeCsv({source, paths});
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(typeString(header->fields), "(f32[2], f32)");
  EXPECT_EQ(header->numExamples, kDynamicSize);
}

TEST_F(CsvReaderTest, FindsWrongTargets) {
  source.target = "t";
  EXPECT_EQ(errorOf("x,y\n"), "1:1: expects a column named 't' for the target, found 'x', 'y'");
  EXPECT_EQ(errorOf("t,x,t\n"), "1:5: expects one column named 't', found a second");
  EXPECT_EQ(errorOf("t\n1\n"), "1:1: expects a column beside the target, found none");
}

TEST_F(CsvReaderTest, FindsMissingAndSurplusFields) {
  EXPECT_EQ(errorOf("x,y,z\n1,2,3\n1,2\n"), "3:4: expects 3 fields ('x', 'y', 'z'), found 2");
  EXPECT_EQ(errorOf("x,y\n1,2\n\n1,2,3\n"), "4:5: expects 2 fields ('x', 'y'), found 3");
  EXPECT_EQ(errorOf("x,y\n1,2"
                    "\n3"),
            "3:2: expects 2 fields ('x', 'y'), found 1");
}

TEST_F(CsvReaderTest, FindsWhatIsNoNumber) {
  EXPECT_EQ(errorOf("x,y\n1,abc\n"), "2:3: expects a number in column 'y', found 'abc'");
  EXPECT_EQ(errorOf("x,y\n1,\n"), "2:3: expects a number in column 'y', found nothing");
  EXPECT_EQ(errorOf("x,y\n1,2\n1 2,3\n"), "3:1: expects a number in column 'x', found '1 2'");
  EXPECT_EQ(errorOf("x\n1e99\n"), "2:1: expects a number that f32 can hold in column 'x', found "
                                  "'1e99'");
  for (const char *text : {"+", "-", "+-1", "--1", "0x10", "0X1", "1f", "1,", "1e", "."})
    EXPECT_NE(errorOf(std::string("x\n") + text + "\n"), "no error") << text;
}

TEST_F(CsvReaderTest, FindsWrongQuotes) {
  EXPECT_EQ(errorOf("x,y\n1,\"2\n3,4\n"), "2:3: expects a closing quote for the one that opens "
                                          "here, found the end of the file");
  EXPECT_EQ(errorOf("x,y\n1,\"2\"3\n"),
            "2:6: expects a comma or the line's end behind a closing quote, found '3'");
}

TEST_F(CsvReaderTest, FindsAnEmptyFile) {
  for (const char *text : {"", "\n\n", "  \r\n"})
    EXPECT_EQ(errorOf(text), " expects a first line with the names of the columns, found nothing");
}

TEST_F(CsvReaderTest, AbridgesAndEscapesWhatItFound) {
  EXPECT_EQ(errorOf("x\n" + std::string(100, 'a') + "\n"),
            "2:1: expects a number in column 'x', found '" + std::string(40, 'a') + "...'");
  EXPECT_EQ(errorOf("x\n\x01\n"), "2:1: expects a number in column 'x', found '\\001'");
  EXPECT_EQ(errorOf("x\n" + std::string(CsvScanner::kMaxFieldSize + 1, '1')),
            "2:1: expects a field of at most 65536 bytes: is this a CSV file?");
}

TEST_F(CsvReaderTest, NeedsOneFile) {
  std::vector<std::string> paths = {write("a.csv", "x\n"), write("b.csv", "x\n")};
  EXPECT_EQ(loadCsv({source, paths}).status().message(), "expects one CSV file, found 2");
}

} // namespace
} // namespace pdg

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
    return loadFiles(source, {write(name, text)});
  }

  static std::vector<float> valuesOf(const ExampleTable &table, size_t field) {
    return elementsOf<float>(table, field);
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

  CsvReaderTest() { source.reader = "csv"; }

  void setOption(const std::string &name, const OptionValue &value) {
    source.options.push_back({name, value});
  }
  void setOption(const std::string &name, const std::string &text) {
    setOption(name, textOption(text));
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
  for (const char *text : {"x,y\n1,2\n3,4", "x,y\r\n1,2\r\n3,4\r\n", "\xef\xbb\xbfx,y\n1,2\n3,4\n",
                           "x,y\r1,2\r\r3,4\r", "\n\nx,y\n\n1,2\r\n\r\n  \n3,4\n\n",
                           "\"x\",\"y\"\r\n\"1\",2\r\n3,\"4\""})
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
  setOption("target", "the, \"target\"");
  absl::StatusOr<ExampleTable> table = load("x,\"the, \"\"target\"\"\",y\n1,2,3\n4,5,6\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->numExamples, 2);
  EXPECT_EQ(valuesOf(*table, 0), (Floats{1, 3, 4, 6}));
  EXPECT_EQ(valuesOf(*table, 1), (Floats{2, 5}));
}

TEST_F(CsvReaderTest, ProbesTheFirstLineOnly) {
  setOption("target", "y");
  absl::StatusOr<SourceHeader> header = probeFiles(source, {write("f.csv", "x,y,z\nnot a number")});
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(typeString(header->fields), "(f32[2], f32)");
  EXPECT_EQ(header->numExamples, kDynamicSize);
}

TEST_F(CsvReaderTest, FindsWrongTargets) {
  setOption("target", "t");
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
  EXPECT_EQ(errorOf("x,y\n1,\n"), "2:3: expects a number in column 'y', found nothing "
                                  "(missing: \"\" would read it as NaN)");
  EXPECT_EQ(errorOf("x,y\r1,2\r1,NA\r"), "3:3: expects a number in column 'y', found 'NA' "
                                         "(missing: \"NA\" would read it as NaN)");
  EXPECT_EQ(errorOf("x,y\r\n1,\"a\r\nb\"\r\n1,b\r\n").substr(0, 4), "2:3:");
  EXPECT_EQ(errorOf("x,y\r\n1,\"\r\n 2 \r\"\r\n1,b\r\n").substr(0, 4), "5:3:");
  EXPECT_EQ(errorOf("x,y\n1,2\n1 2,3\n"), "3:1: expects a number in column 'x', found '1 2'");
  EXPECT_EQ(errorOf("x\n1e99\n"), "2:1: expects a number that f32 can hold in column 'x', found "
                                  "'1e99'");
  for (const char *text : {"+", "-", "+-1", "--1", "0x10", "0X1", "1f", "1,", "1e", "."})
    EXPECT_NE(errorOf(std::string("x\n") + text + "\n"), "no error") << text;
}

TEST_F(CsvReaderTest, ReadsMissingNumbersAsNan) {
  source.options.push_back({"missing", listOption({"", "NA", "-1"})});
  ExampleTable table = loadFiles(source, {write("m.csv", "x,y\n1,\n NA ,\"\"\n-1,-1.0\n")}).value();
  std::vector<float> values = elementsOf<float>(table, 0);
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0], 1);
  for (size_t i : {1, 2, 3, 4})
    EXPECT_TRUE(std::isnan(values[i])) << i;
  EXPECT_EQ(values[5], -1);
  EXPECT_EQ(errorOf("x\n?\n"), "2:1: expects a number in column 'x', found '?' (missing: \"?\" "
                               "would read it as NaN)");
  setOption("types", "i64");
  EXPECT_EQ(errorOf("x\nNA\n"), "2:1: expects a whole number in column 'x', found 'NA'");
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

TEST_F(CsvReaderTest, JoinsFiles) {
  std::string a = write("a.csv", "x,y\n1,2\n"), b = write("b.csv.gz", gzip("x,y\n3,4\n5,6\n"));
  EXPECT_EQ(valuesOf(loadFiles(source, {a, b}).value(), 0), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(loadFiles(source, {a, write("c.csv", "y,x\n1,2\n")}).status().message(),
            (folder / "c.csv").string() + ":1:1: expects the columns 'x', 'y', as in " + a +
                ", found 'y', 'x'");
  EXPECT_EQ(loadFiles(source, {}).status().message(), "expects at least one CSV file, found none");
}

TEST_F(CsvReaderTest, ChoosesColumnsByName) {
  setOption("columns", listOption({"z", "x"}));
  setOption("target", "y");
  std::string a = write("a.csv", "x,y,z,w\n1,2,3,-\n"), b = write("b.csv", "w,z,y,x\n-,6,5,4\n");
  ExampleTable table = loadFiles(source, {a, b}).value();
  EXPECT_EQ(valuesOf(table, 0), (Floats{3, 1, 6, 4}));
  EXPECT_EQ(valuesOf(table, 1), (Floats{2, 5}));
  EXPECT_EQ(errorOf("x,y\n1,2\n"), "1:1: expects a column named 'z', found 'x', 'y'");
}

TEST_F(CsvReaderTest, ReadsColumnsOfTypes) {
  setOption("types", {"", true, {{"i64"}, {"u8"}, {"bool"}, {"f64"}, listOption({"red", "blue"})}});
  absl::StatusOr<ExampleTable> table =
      load("a,b,c,d,e\n-9223372036854775808,255,true,0.1,blue\n+7,0,0,1e300, red\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(elementsOf<int64_t>(*table, 0), (std::vector<int64_t>{INT64_MIN, 7}));
  EXPECT_EQ(elementsOf<uint8_t>(*table, 1), (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(table->columns[2].bytes.data()[0], 1);
  EXPECT_EQ(table->columns[2].bytes.data()[1], 0);
  EXPECT_EQ(elementsOf<double>(*table, 3), (std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(elementsOf<int64_t>(*table, 4), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(errorOf("a,b,c,d,e\n1.5,0,0,0,red\n"),
            "2:1: expects a whole number in column 'a', found '1.5'");
  EXPECT_EQ(errorOf("a,b,c,d,e\n1,256,0,0,red\n"),
            "2:3: expects a whole number that u8 can hold in column 'b', found '256'");
  EXPECT_EQ(errorOf("a,b,c,d,e\n1,-1,0,0,red\n"),
            "2:3: expects a whole number that u8 can hold in column 'b', found '-1'");
  EXPECT_EQ(errorOf("a,b,c,d,e\n1,2,yes,0,red\n"),
            "2:5: expects true, false, 1 or 0 in column 'c', found 'yes'");
  EXPECT_EQ(errorOf("a,b,c,d,e\n1,2,0,0,green\n"),
            "2:9: expects one of 'red', 'blue' in column 'e', found 'green'");
  EXPECT_EQ(errorOf("a,b\n"), "1:1: expects 5 columns, one for each of 'types', found 2");
}

TEST_F(CsvReaderTest, GroupsColumnsIntoFields) {
  setOption("columns", {"", true, {listOption({"a", "b"}), {"c"}}});
  setOption("target", "t");
  setOption("target_type", listOption({"no", "yes"}));
  ExampleTable table = load("c,b,a,t\n1,2,3,yes\n").value();
  std::vector<FieldInfo> fields;
  for (const FieldColumn &column : table.columns)
    fields.push_back(column.info);
  EXPECT_EQ(typeString(fields), "(f32[2], f32, i64)");
  EXPECT_EQ(valuesOf(table, 0), (Floats{3, 2}));
  EXPECT_EQ(valuesOf(table, 1), Floats{1});
  EXPECT_EQ(elementsOf<int64_t>(table, 2), std::vector<int64_t>{1});
}

TEST_F(CsvReaderTest, TakesAnotherDelimiterAndNoHeader) {
  setOption("delimiter", ";");
  setOption("header", "false");
  setOption("target", "3");
  ExampleTable table = load("1;2;3\n4;5;\"6\"\n").value();
  EXPECT_EQ(valuesOf(table, 0), (Floats{1, 2, 4, 5}));
  EXPECT_EQ(valuesOf(table, 1), (Floats{3, 6}));
  EXPECT_EQ(errorOf("1;2;3\n1;\"2\"x;3\n"),
            "2:6: expects ';' or the line's end behind a closing quote, found 'x'");
  EXPECT_EQ(errorOf(""), " expects a line, found nothing");
}

TEST_F(CsvReaderTest, ReadsManyColumnsAtOnce) {
  constexpr size_t Columns = 100'000;
  setOption("header", "false");
  std::string row;
  for (size_t i = 0; i < Columns; ++i)
    row += i ? ",1" : "1";
  EXPECT_EQ(valuesOf(load(row + "\n").value(), 0), Floats(Columns, 1));
}

} // namespace
} // namespace pdg

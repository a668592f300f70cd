// Windows over bytes and words, and lines.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/text_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/data/data_source.h"
#include "test/runtime/data/data_files_fixture.h"

#include <set>

namespace pdg {
namespace {

using Ids = std::vector<int64_t>;

class TextReaderTest : public DataFilesTest {
protected:
  TextReaderTest() { source.reader = "text"; }

  void set(const std::string &name, const std::string &text) {
    source.options.push_back({name, textOption(text)});
  }

  std::string bytesOf(const std::vector<std::string> &paths) {
    absl::StatusOr<ExampleTable> table = loadFiles(source, paths);
    if (!table.ok())
      return std::string(table.status().message());
    std::vector<uint8_t> bytes = elementsOf<uint8_t>(*table, 0);
    return {bytes.begin(), bytes.end()};
  }

  SourceInfo source;
};

TEST_F(TextReaderTest, WindowsOfBytes) {
  set("window", "3");
  std::string a = write("a", "abcde"), b = write("b", "xy"), c = write("c.gz", gzip("123"));
  EXPECT_EQ(bytesOf({a, b, c}), "abcbcdcde123") << "windows do not cross the ends of files";
  set("stride", "2");
  EXPECT_EQ(bytesOf({a}), "abccde");
  EXPECT_EQ(bytesOf({b}), b + ": expects at least 3 bytes for a window, found fewer");
}

TEST_F(TextReaderTest, StridesBeyondTheWindow) {
  set("window", "2");
  set("stride", "30000"); // Beyond what is read at once.
  std::string text(70000, '.');
  text.replace(0, 2, "ab"), text.replace(30000, 2, "cd"), text.replace(60000, 2, "ef");
  EXPECT_EQ(bytesOf({write("a", text)}), "abcdef");
}

TEST_F(TextReaderTest, ShuffledWindowsShareTheirTokens) {
  set("window", "3");
  source.shuffle = true;
  std::string a = write("a", "abcde"), b = write("b", "xy"), c = write("c.gz", gzip("1234"));
  EXPECT_EQ(bytesOf({b, a, b, c, b}), "abcbcdcde123234");
  EXPECT_EQ(bytesOf({b}), b + ": expects at least 3 bytes for a window, found fewer");
  DataOptions options;
  source.files = {a, b, c};
  source.fields = {{DType::U8, {3}}};
  source.batch = 2;
  auto data = DataSource::open(source, options).value();
  EXPECT_EQ(data->size().value(), 5);
  data->beginPass(0);
  std::multiset<std::string> windows;
  for (int64_t n = 1; n != 0;) {
    DataBatch batch = data->next().value();
    n = batch.n;
    for (int64_t i = 0; i < n; ++i)
      windows.emplace(batch.fields[0] + 3 * i, 3);
  }
  EXPECT_EQ(windows, (std::multiset<std::string>{"123", "234", "abc", "bcd", "cde"}));
  set("vocabulary", "9");
  EXPECT_EQ(elementsOf<int64_t>(loadFiles(source, {write("w", "a b a c")}).value(), 0),
            (Ids{1, 2, 1, 2, 1, 3}));
}

TEST_F(TextReaderTest, WindowsOfWords) {
  set("window", "2");
  write("words.txt", "a\nb\n<unk>\n");
  set("vocabulary", (folder / "words.txt").string());
  std::string text = write("t", "  b a\nrare\r\n\ta ");
  EXPECT_EQ(elementsOf<int64_t>(loadFiles(source, {text}).value(), 0), (Ids{1, 0, 0, 2, 2, 0}));
  write("words.txt", "a b");
  EXPECT_EQ(loadFiles(source, {text}).status().message(),
            text + ":2:1: expects a word of the vocabulary, found 'rare' (a word <unk> in the "
                   "vocabulary would stand for all others)");
  write("words.txt", "a\nb a");
  EXPECT_EQ(loadFiles(source, {text}).status().message(),
            (folder / "words.txt").string() + ":2:3: expects each word once, found 'a' again");
}

TEST_F(TextReaderTest, CountsTheMostFrequentWords) {
  set("window", "1");
  set("vocabulary", "3");
  std::string a = write("a", "rare b c b c"), b = write("b", "c b last");
  // b and c are equally frequent: b came first.
  EXPECT_EQ(elementsOf<int64_t>(loadFiles(source, {a, b}).value(), 0),
            (Ids{0, 1, 2, 1, 2, 2, 1, 0}));
}

TEST_F(TextReaderTest, LongTextsAreReadInPieces) {
  set("window", "1");
  set("vocabulary", "100000");
  std::string text;
  Ids expected;
  for (int i = 0; i < 40000; ++i) {
    text += "w" + std::to_string(i) + (i % 7 ? " " : "\n");
    expected.push_back(i + 1);
  }
  EXPECT_EQ(elementsOf<int64_t>(loadFiles(source, {write("t", text)}).value(), 0), expected);
  EXPECT_NE(loadFiles(source, {write("u", std::string(70000, 'x'))})
                .status()
                .message()
                .find("u:1:1: expects words of at most 65536 bytes: is this a text?"),
            absl::string_view::npos);
}

TEST_F(TextReaderTest, Lines) {
  source.reader = "lines";
  set("length", "4");
  std::string a = write("a", "abcd\r\n\nxy"), b = write("b", "1\n");
  ExampleTable table = loadFiles(source, {a, b}).value();
  std::vector<uint8_t> bytes = elementsOf<uint8_t>(table, 0);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
            std::string("abcd\0\0\0\0xy\0\0001\0\0\0", 16));
  EXPECT_EQ(elementsOf<int64_t>(table, 1), (Ids{4, 0, 2, 1}));
  std::string wide = write("c", "ab\nabcde\n");
  EXPECT_EQ(loadFiles(source, {wide}).status().message(),
            wide + ":2:5: expects lines of at most 4 bytes, found a longer one");
  std::string last = write("d", "ab\nabcdef");
  EXPECT_EQ(loadFiles(source, {last}).status().message(),
            last + ":2:5: expects lines of at most 4 bytes, found a longer one");
}

TEST_F(TextReaderTest, OptionsAreChecked) {
  std::string a = write("a", "abc");
  EXPECT_EQ(bytesOf({a}), "expects 'window' to be a number from 1 to 16777216, found none");
  set("window", "99999999999");
  EXPECT_EQ(bytesOf({a}),
            "expects 'window' to be a number from 1 to 16777216, found '99999999999'");
}

} // namespace
} // namespace pdg

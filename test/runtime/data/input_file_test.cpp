// Plain and gzip files: whole, cut off at every length, damaged, followed by something else.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/input_file.h"

#include "test/runtime/data/data_files_fixture.h"

namespace pdg {
namespace {

class InputFileTest : public DataFilesTest {
protected:
  /// Writes a file, reads it to its end and returns its content.
  absl::StatusOr<std::string> readBack(const std::string &name, std::string_view bytes) {
    absl::StatusOr<InputFile> file = InputFile::open(write(name, bytes));
    if (!file.ok())
      return file.status();
    std::string content;
    char piece[7]; // No divisor of anything: pieces end anywhere.
    while (true) {
      absl::StatusOr<int64_t> found = file->read(piece, sizeof(piece));
      if (!found.ok())
        return found.status();
      content.append(piece, *found);
      EXPECT_EQ(file->offset(), static_cast<int64_t>(content.size()));
      if (*found < static_cast<int64_t>(sizeof(piece)))
        return content;
    }
  }

  const std::string content = "one line\nand another line, and another line, and one more\n";
};

TEST_F(InputFileTest, ReadsPlainAndPackedFiles) {
  for (const std::string &text : {content, std::string(), std::string("x"), std::string(3000, 'z')})
    for (const std::string &bytes : {text, gzip(text)}) {
      absl::StatusOr<std::string> found = readBack("file", bytes);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(*found, text);
    }
}

TEST_F(InputFileTest, JoinsGzipMembers) {
  absl::StatusOr<std::string> found = readBack("file.gz", gzip("one ") + gzip("") + gzip("two"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, "one two");
}

TEST_F(InputFileTest, FindsEveryTruncation) {
  std::string packed = gzip(content);
  for (size_t length = 0; length < packed.size(); ++length) {
    absl::StatusOr<std::string> found = readBack("file.gz", packed.substr(0, length));
    ASSERT_FALSE(found.ok()) << length << " of " << packed.size() << " bytes";
    EXPECT_EQ(found.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(found.status().message().find("file.gz: expects "), absl::string_view::npos);
  }
  std::string message(readBack("file.gz", packed.substr(0, 30)).status().message());
  EXPECT_EQ(message, (folder / "file.gz").string() +
                         ": expects more gzip data, found the end of the file at byte 30: the file "
                         "is cut off");
}

TEST_F(InputFileTest, FindsEveryDamagedByteOfChecksumAndLength) {
  std::string packed = gzip(content);
  for (size_t i = packed.size() - 8; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    absl::Status status = readBack("file.gz", damaged).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << "byte " << i;
    EXPECT_NE(status.message().find("damaged gzip data"), absl::string_view::npos) << status;
  }
}

TEST_F(InputFileTest, FindsWhatFollowsTheData) {
  std::string packed = gzip(content);
  absl::Status status = readBack("file.gz", packed + "junk").status();
  EXPECT_EQ(status.message(), (folder / "file.gz").string() +
                                  ": expects the end of the file after its gzip data at byte " +
                                  std::to_string(packed.size()) + ", found 4 more bytes");
  EXPECT_FALSE(readBack("file.gz", packed + '\x1f').ok());
}

TEST_F(InputFileTest, FindsChangesOfTheLengthWhileItReads) {
  for (size_t length : {60, 200}) {
    std::string path = write("f", std::string(100, 'x'));
    InputFile file = InputFile::open(path).value();
    char bytes[50];
    ASSERT_EQ(file.read(bytes, 50).value(), 50);
    std::filesystem::resize_file(path, length);
    absl::Status status;
    for (int i = 0; i < 4 && status.ok(); ++i)
      status = file.read(bytes, 50).status();
    EXPECT_NE(std::string(status.message())
                  .find("f: expects 100 bytes, as when it was opened, "
                        "found the end after " +
                        std::to_string(length)),
              std::string::npos)
        << status;
  }
}

TEST_F(InputFileTest, RefusesAPlainFileNamedGz) {
  absl::Status status = readBack("file.gz", "plain").status();
  EXPECT_EQ(status.message(), (folder / "file.gz").string() +
                                  ": expects a gzip file, which begins with the bytes 1f 8b, found "
                                  "70 6c at byte 0");
}

TEST_F(InputFileTest, ReportsMissingFilesAndFolders) {
  EXPECT_EQ(InputFile::open(folder / "none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(InputFile::open(folder.string()).ok());
}

TEST_F(InputFileTest, StopsWhenCancelled) {
  std::atomic<bool> cancelled = false;
  absl::StatusOr<InputFile> file = InputFile::open(write("file", content), &cancelled);
  ASSERT_TRUE(file.ok());
  char byte;
  EXPECT_TRUE(file->read(&byte, 1).ok());
  cancelled = true;
  EXPECT_EQ(file->read(&byte, 1).status().code(), absl::StatusCode::kCancelled);
}

} // namespace
} // namespace pdg

// Makes data files for tests: a temporary folder, gzip, IDX.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

#include <gtest/gtest.h>

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// A test with a folder of its own, removed at the end.
class DataFilesTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/pdg-data-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Writes a file and returns its path.
  std::string write(const std::string &name, std::string_view bytes) {
    std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    // Some file systems write a file that is truncated and filled again to the disk at once, which
    // makes thousands of them slow.
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  std::filesystem::path folder;
};

/// Files, each a group of its own.
inline std::vector<std::vector<std::string>> eachAlone(const std::vector<std::string> &paths) {
  std::vector<std::vector<std::string>> groups;
  for (const std::string &path : paths)
    groups.push_back({path});
  return groups;
}

/// What the headers of files say, without a search for them.
inline absl::StatusOr<SourceHeader> probeFiles(const SourceInfo &source,
                                               const std::vector<std::string> &paths) {
  return findReader(source).value()->probe({source, eachAlone(paths), {}});
}

/// All examples of groups of files.
inline absl::StatusOr<ExampleTable> loadGroups(const SourceInfo &source,
                                               std::vector<std::vector<std::string>> groups) {
  const Reader *format = findReader(source).value();
  DataPaths folders;
  ReaderInput input = {source, groups, folders};
  absl::StatusOr<SourceHeader> header = format->probe(input);
  if (!header.ok())
    return header.status();
  absl::StatusOr<std::unique_ptr<ExampleReader>> reader = format->open(input);
  if (!reader.ok())
    return reader.status();
  absl::StatusOr<std::optional<ExampleTable>> table =
      readTable(**reader, *header, {0, header->numExamples});
  return table.ok() ? absl::StatusOr<ExampleTable>(**std::move(table)) : table.status();
}

/// All examples of files, each a group of its own.
inline absl::StatusOr<ExampleTable> loadFiles(const SourceInfo &source,
                                              const std::vector<std::string> &paths) {
  return loadGroups(source, eachAlone(paths));
}

/// The elements of a field of all examples.
template <typename T> std::vector<T> elementsOf(const ExampleTable &table, size_t field) {
  const FieldColumn &column = table.columns[field];
  EXPECT_EQ(column.info.dtype, dtypeOf<T>);
  std::vector<T> values(static_cast<size_t>(table.numExamples * column.exampleBytes) / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), column.bytes.data(), values.size() * sizeof(T));
  return values;
}

/// A text as the value of an option.
inline OptionValue textOption(const std::string &text) { return {text, false, {}}; }

/// Texts as the value of an option.
inline OptionValue listOption(const std::vector<std::string> &texts) {
  OptionValue value = {"", true, {}};
  for (const std::string &text : texts)
    value.list.push_back(textOption(text));
  return value;
}

/// Packs `content` as one gzip member.
inline std::string gzip(std::string_view content) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The header of an IDX file.
inline std::string idxHeader(uint8_t code, const std::vector<uint32_t> &sizes) {
  std::string bytes = {0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
  for (uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(size >> shift));
  return bytes;
}

/// An IDX file of u8 whose element i is i mod 256.
inline std::string idxBytes(const std::vector<uint32_t> &sizes) {
  std::string bytes = idxHeader(0x08, sizes);
  uint32_t count = 1;
  for (uint32_t size : sizes)
    count *= size;
  for (uint32_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<char>(i));
  return bytes;
}

} // namespace pdg

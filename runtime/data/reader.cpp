// The table of readers, with their options.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/reader.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_reader.h"
#include "runtime/data/idx_reader.h"
#include "runtime/data/npy_reader.h"
#include "runtime/data/text_reader.h"

#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

namespace pdg {

namespace {

bool isText(const OptionValue &value) { return !value.isList; }

bool isBool(const OptionValue &value) {
  return isText(value) && (value.text == "true" || value.text == "false");
}

bool isNonEmptyList(const OptionValue &value) { return value.isList && !value.list.empty(); }

bool isTexts(const OptionValue &value) {
  return isNonEmptyList(value) && std::all_of(value.list.begin(), value.list.end(), isText);
}

bool isColumns(const OptionValue &value) {
  return isNonEmptyList(value) &&
         std::all_of(value.list.begin(), value.list.end(),
                     [](const OptionValue &each) { return isText(each) || isTexts(each); });
}

bool isColumnType(const OptionValue &value) {
  return isTexts(value) || (isText(value) && isCsvType(value.text));
}

bool isColumnTypes(const OptionValue &value) {
  return (isText(value) && isCsvType(value.text)) ||
         (isNonEmptyList(value) && std::all_of(value.list.begin(), value.list.end(), isColumnType));
}

bool isTextOrTexts(const OptionValue &value) { return isText(value) || isTexts(value); }

bool isDelimiter(const OptionValue &value) {
  return isText(value) && value.text.size() == 1 && value.text[0] != '"' && value.text[0] != '\n' &&
         value.text[0] != '\r' && static_cast<unsigned char>(value.text[0]) < 0x80;
}

constexpr ReaderOption kCsvOptions[] = {
    {"target", "the name of a column", isText},
    {"columns", "a list of names of columns, or of lists of them", isColumns},
    {"types",
     "f32, f64, i32, i64, u8 or bool, or a list with one of them, or a list of words, for "
     "each of the columns",
     isColumnTypes},
    {"target_type", "f32, f64, i32, i64, u8, bool or a list of words", isColumnType},
    {"delimiter", "one character, such as \";\"", isDelimiter},
    {"header", "true or false", isBool},
    {"missing", "a text that stands for NaN, or a list of such texts", isTextOrTexts},
};

constexpr ReaderOption kNpzOptions[] = {
    {"fields", "a list of names of arrays", isTexts},
};

constexpr ReaderOption kTextOptions[] = {
    {"window", "a whole number of at least 1", isPositiveNumber},
    {"stride", "a whole number of at least 1", isPositiveNumber},
    {"vocabulary", "the name of a file with a word in each line, or a number of words",
     [](const OptionValue &value) { return isText(value) && !value.text.empty(); }},
};

constexpr ReaderOption kLinesOptions[] = {
    {"length", "a whole number of at least 1", isPositiveNumber},
};

constexpr Reader kReaders[] = {
    {"csv", kCsvOptions, probeCsv, openCsv},         {"idx", {}, probeIdx, openIdx},
    {"lines", kLinesOptions, probeLines, openLines}, {"npy", {}, probeNpy, openNpy},
    {"npz", kNpzOptions, probeNpz, openNpz},         {"text", kTextOptions, probeText, openText},
};

} // namespace

std::vector<std::string> ReaderInput::allFiles() const {
  std::vector<std::string> all;
  for (const std::vector<std::string> &group : files)
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

const OptionValue *ReaderInput::option(std::string_view name) const {
  for (const SourceOption &option : source.options)
    if (option.name == name)
      return &option.value;
  return nullptr;
}

std::span<const Reader> allReaders() { return kReaders; }

absl::StatusOr<const Reader *> findReader(const SourceInfo &source) {
  std::string known;
  for (const Reader &reader : kReaders) {
    if (reader.name == source.reader)
      return &reader;
    absl::StrAppend(&known, known.empty() ? "" : ", ", toAbsl(reader.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown data reader '", source.reader, "'; the readers are ", known));
}

absl::StatusOr<std::vector<std::vector<std::string>>> resolveSourceFiles(const SourceInfo &source,
                                                                         const DataPaths &paths) {
  std::vector<std::vector<std::string>> found;
  for (const std::string &name : source.files) {
    absl::StatusOr<std::vector<std::string>> files = resolveDataFiles(name, paths);
    if (!files.ok())
      return files.status();
    found.push_back(*std::move(files));
  }
  return found;
}

absl::StatusOr<SourceHeader> probeSource(const SourceInfo &source, const DataPaths &paths) {
  absl::StatusOr<const Reader *> reader = findReader(source);
  if (!reader.ok())
    return reader.status();
  absl::StatusOr<std::vector<std::vector<std::string>>> files = resolveSourceFiles(source, paths);
  if (!files.ok())
    return files.status();
  absl::StatusOr<SourceHeader> header = (*reader)->probe({source, *files, paths});
  if (!header.ok() || header->numExamples == kDynamicSize)
    return header;
  // What can be said of the chosen examples is said before anything runs.
  if (absl::Status status = exampleRange(source, header->numExamples).status(); !status.ok())
    return status;
  return header;
}

bool needsCount(const SourceInfo &source) { return source.from != 0 || source.to != 1; }

absl::StatusOr<ExampleRange> exampleRange(const SourceInfo &source, int64_t numExamples) {
  ExampleRange range = {source.skip, kDynamicSize};
  bool hasEnd = source.limit != kDynamicSize &&
                !__builtin_add_overflow(source.skip, source.limit, &range.end);
  if (numExamples == kDynamicSize)
    return range;
  range.end = hasEnd ? std::min(range.end, numExamples) : numExamples;
  range.begin = std::min(range.begin, range.end);
  int64_t count = range.end - range.begin;
  auto place = [&](double share) {
    if (share == 1)
      return range.end;
    return range.begin +
           std::min(static_cast<int64_t>(std::floor(share * static_cast<double>(count) + 0.5)),
                    count);
  };
  range = {place(source.from), place(source.to)};
  bool isChosen = source.skip != 0 || source.limit != kDynamicSize || needsCount(source);
  if (range.begin == range.end && isChosen)
    return absl::InvalidArgumentError(absl::StrCat("of ", numExamples, " examples in ",
                                                   source.files.empty() ? "" : source.files[0],
                                                   " 'skip', 'limit', 'from' and 'to' leave none"));
  return range;
}

std::vector<std::string> textsOf(const OptionValue &value) {
  if (!value.isList)
    return {value.text};
  std::vector<std::string> texts;
  for (const OptionValue &each : value.list)
    texts.push_back(each.text);
  return texts;
}

bool isPositiveNumber(const OptionValue &value) {
  int64_t number = 0;
  return !value.isList && absl::SimpleAtoi(value.text, &number) && number >= 1;
}

} // namespace pdg

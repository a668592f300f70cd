// Words of files, and which number each has.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/vocabulary.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_scanner.h"

#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

namespace pdg {

namespace {

constexpr std::string_view kUnknownWord = "<unk>";
// More distinct words than this are no vocabulary of a language.
constexpr size_t kMaxDistinct = size_t{1} << 24;

bool isBlank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// How often a word occurs, and when it came first.
struct WordCount {
  int64_t count = 0;
  size_t first = 0;
};

} // namespace

absl::StatusOr<bool> WordScanner::fill() {
  buffer_.resize(size_t{1} << 16);
  next_ = 0;
  absl::StatusOr<int64_t> found = file_.read(buffer_.data(), static_cast<int64_t>(buffer_.size()));
  if (!found.ok())
    return found.status();
  buffer_.resize(static_cast<size_t>(*found));
  return *found != 0;
}

absl::StatusOr<bool> WordScanner::readWord() {
  word_.clear();
  while (true) {
    if (next_ == buffer_.size()) {
      absl::StatusOr<bool> more = fill();
      if (!more.ok())
        return more;
      if (!*more)
        return !word_.empty();
    }
    char byte = buffer_[next_];
    if (isBlank(byte) && !word_.empty())
      return true;
    ++next_;
    if (isBlank(byte)) {
      line_ += byte == '\n';
      column_ = byte == '\n' ? 1 : column_ + 1;
      continue;
    }
    if (word_.empty())
      wordLine_ = line_, wordColumn_ = column_;
    word_ += byte;
    ++column_;
    if (word_.size() > kMaxWordSize)
      return errorAtWord(
          absl::StrCat("expects words of at most ", kMaxWordSize, " bytes: is this a text?"));
  }
}

absl::Status WordScanner::errorAtWord(std::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat(file_.path(), ":", wordLine_, ":", wordColumn_, ": ", toAbsl(what)));
}

absl::StatusOr<Vocabulary> Vocabulary::load(const ReaderInput &input) {
  const std::string &text = input.option("vocabulary")->text;
  int64_t size = 0;
  if (absl::Status status = check(input); !status.ok())
    return status;
  return absl::SimpleAtoi(text, &size) ? count(input, size) : readFile(input, text);
}

absl::Status Vocabulary::check(const ReaderInput &input) {
  const OptionValue *option = input.option("vocabulary");
  int64_t size = 0;
  if (!option)
    return absl::OkStatus();
  if (!absl::SimpleAtoi(option->text, &size))
    return resolveDataFile(option->text, input.paths).status();
  if (size < 1)
    return absl::InvalidArgumentError(
        absl::StrCat("expects a vocabulary of at least 1 word, found ", size));
  return absl::OkStatus();
}

absl::StatusOr<Vocabulary> Vocabulary::readFile(const ReaderInput &input, const std::string &name) {
  absl::StatusOr<std::string> path = resolveDataFile(name, input.paths);
  if (!path.ok())
    return path.status();
  absl::StatusOr<InputFile> file = InputFile::open(*path, input.cancelled);
  if (!file.ok())
    return file.status();
  WordScanner words(*std::move(file));
  Vocabulary vocabulary;
  while (true) {
    absl::StatusOr<bool> hasWord = words.readWord();
    if (!hasWord.ok())
      return hasWord.status();
    if (!*hasWord)
      break;
    int64_t number = static_cast<int64_t>(vocabulary.numbers_.size());
    if (!vocabulary.numbers_.emplace(words.word(), number).second)
      return words.errorAtWord(
          absl::StrCat("expects each word once, found ", quoteForMessage(words.word()), " again"));
    if (vocabulary.numbers_.size() > kMaxDistinct)
      return words.errorAtWord(absl::StrCat("expects at most ", kMaxDistinct, " words"));
  }
  if (vocabulary.numbers_.empty())
    return absl::InvalidArgumentError(absl::StrCat(*path, ": expects words, found none"));
  vocabulary.unknown_ = vocabulary.find(kUnknownWord);
  return vocabulary;
}

absl::StatusOr<Vocabulary> Vocabulary::count(const ReaderInput &input, int64_t size) {
  WordMap<WordCount>::Map counts;
  for (const std::string &path : input.allFiles()) {
    absl::StatusOr<InputFile> file = InputFile::open(path, input.cancelled);
    if (!file.ok())
      return file.status();
    WordScanner words(*std::move(file));
    while (true) {
      absl::StatusOr<bool> hasWord = words.readWord();
      if (!hasWord.ok())
        return hasWord.status();
      if (!*hasWord)
        break;
      auto found = counts.find(words.word());
      if (found == counts.end())
        found = counts.emplace(words.word(), WordCount{0, counts.size()}).first;
      ++found->second.count;
      if (counts.size() > kMaxDistinct)
        return words.errorAtWord(absl::StrCat("expects at most ", kMaxDistinct,
                                              " different words; name a file of words instead"));
    }
  }
  std::vector<const decltype(counts)::value_type *> ordered;
  for (const auto &entry : counts)
    ordered.push_back(&entry);
  // The order of first occurrence decides among equally frequent words: no two are equal.
  std::sort(ordered.begin(), ordered.end(), [](const auto *left, const auto *right) {
    return left->second.count != right->second.count ? left->second.count > right->second.count
                                                     : left->second.first < right->second.first;
  });
  Vocabulary vocabulary;
  vocabulary.unknown_ = 0;
  for (size_t i = 0; i < ordered.size() && static_cast<int64_t>(i) + 1 < size; ++i)
    vocabulary.numbers_.emplace(ordered[i]->first, static_cast<int64_t>(i) + 1);
  return vocabulary;
}

std::optional<int64_t> Vocabulary::find(std::string_view word) const {
  auto found = numbers_.find(word);
  return found == numbers_.end() ? unknown_ : std::optional(found->second);
}

} // namespace pdg

// The words of a text and their numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/input_file.h"
#include "runtime/data/reader.h"

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pdg {

/// Splits a file at its blanks and line ends, keeping line and column for messages.
class WordScanner {
public:
  /// Longer words are refused: such a file is no text.
  static constexpr size_t kMaxWordSize = size_t{1} << 16;

  explicit WordScanner(InputFile file) : file_(std::move(file)) {}

  /// Reads the next word. Returns false at the end of the file.
  absl::StatusOr<bool> readWord();

  /// The word that was read.
  std::string_view word() const { return word_; }

  /// An error at the beginning of the word.
  absl::Status errorAtWord(std::string_view what) const;

private:
  absl::StatusOr<bool> fill();

  InputFile file_;
  std::string buffer_;
  size_t next_ = 0;
  int64_t line_ = 1, column_ = 1, wordLine_ = 1, wordColumn_ = 1;
  std::string word_;
};

/// Values by words, looked up without making a string.
template <class T> class WordMap {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };

public:
  using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;
};

/// Numbers of words.
class Vocabulary {
public:
  /// Reads the vocabulary that the option `vocabulary` of `input` names, or counts the words of its
  /// files.
  static absl::StatusOr<Vocabulary> load(const ReaderInput &input);

  /// Looks for the file that the option names, if it names one, without reading it.
  static absl::Status check(const ReaderInput &input);

  /// The number of a word, or of what stands for words that are not in the vocabulary.
  std::optional<int64_t> find(std::string_view word) const;

private:
  static absl::StatusOr<Vocabulary> readFile(const ReaderInput &input, const std::string &name);
  static absl::StatusOr<Vocabulary> count(const ReaderInput &input, int64_t size);

  WordMap<int64_t>::Map numbers_;
  std::optional<int64_t> unknown_;
};

} // namespace pdg

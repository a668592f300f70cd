// Windows over the tokens of texts, and lines.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/text_reader.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_scanner.h"
#include "runtime/data/vocabulary.h"

#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace pdg {

namespace {

// Larger examples are a mistake in the script.
constexpr int64_t kMaxExample = int64_t{1} << 24;

absl::StatusOr<int64_t> numberOf(const ReaderInput &input, const char *name, int64_t otherwise) {
  const OptionValue *option = input.option(name);
  int64_t number = otherwise;
  if (option && !absl::SimpleAtoi(option->text, &number))
    number = 0;
  if (number < 1 || number > kMaxExample)
    return absl::InvalidArgumentError(
        absl::StrCat("expects '", name, "' to be a number from 1 to ", kMaxExample, ", found ",
                     option ? quoteForMessage(option->text) : "none"));
  return number;
}

/// Checks that the files can be opened; nothing in a text says what is in it.
absl::Status checkFiles(const ReaderInput &input) {
  if (input.files.empty())
    return absl::InvalidArgumentError("expects at least one text file, found none");
  for (const std::string &path : input.allFiles())
    if (absl::Status status = InputFile::open(path, input.cancelled).status(); !status.ok())
      return status;
  return absl::OkStatus();
}

//===-- Tokens --------------------------------------------------------------------------------===//

/// The tokens of one file: its bytes, or the numbers of its words.
class TokenStream {
public:
  TokenStream(InputFile file, const Vocabulary *vocabulary) : vocabulary_(vocabulary) {
    if (vocabulary)
      words_.emplace(std::move(file));
    else
      bytes_.emplace(std::move(file));
  }

  /// Appends some tokens; none at the end of the file.
  absl::Status append(std::vector<int64_t> &tokens) {
    return vocabulary_ ? appendWords(tokens) : appendBytes(tokens);
  }

private:
  absl::Status appendBytes(std::vector<int64_t> &tokens) {
    uint8_t buffer[1 << 14];
    absl::StatusOr<int64_t> found = bytes_->read(buffer, sizeof(buffer));
    if (found.ok())
      tokens.insert(tokens.end(), buffer, buffer + *found);
    return found.status();
  }

  absl::Status appendWords(std::vector<int64_t> &tokens) {
    for (int i = 0; i < 4096; ++i) {
      absl::StatusOr<bool> hasWord = words_->readWord();
      if (!hasWord.ok())
        return hasWord.status();
      if (!*hasWord)
        break;
      std::optional<int64_t> number = vocabulary_->find(words_->word());
      if (!number)
        return words_->errorAtWord(absl::StrCat(
            "expects a word of the vocabulary, found ", quoteForMessage(words_->word()),
            " (a word <unk> in the vocabulary would stand for all others)"));
      tokens.push_back(*number);
    }
    return absl::OkStatus();
  }

  const Vocabulary *vocabulary_;
  std::optional<WordScanner> words_;
  std::optional<InputFile> bytes_;
};

absl::Status tooShort(const std::string &path, int64_t window, const Vocabulary *vocabulary) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": expects at least ", window,
                                                 vocabulary ? " words" : " bytes",
                                                 " for a window, found fewer"));
}

class TextReader : public ExampleReader {
public:
  TextReader(const ReaderInput &input, int64_t window, int64_t stride,
             std::optional<Vocabulary> vocabulary)
      : files_(input.allFiles()), cancelled_(input.cancelled), window_(window), stride_(stride),
        vocabulary_(std::move(vocabulary)) {}

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override {
    char *to = fields[0];
    int64_t done = 0;
    for (; done < count; ++done) {
      absl::StatusOr<bool> hasWindow = findWindow();
      if (!hasWindow.ok())
        return hasWindow.status();
      if (!*hasWindow)
        break;
      const int64_t *tokens = tokens_.data() + begin_;
      if (vocabulary_) {
        std::memcpy(to, tokens, static_cast<size_t>(window_) * sizeof(int64_t));
        to += window_ * static_cast<int64_t>(sizeof(int64_t));
      } else {
        to = std::transform(tokens, tokens + window_, to,
                            [](int64_t token) { return static_cast<char>(token); });
      }
      advance();
    }
    return done;
  }

  absl::StatusOr<int64_t> seek(int64_t index) override {
    if (index < next_) {
      stream_.reset();
      file_ = 0;
      next_ = 0;
    }
    while (next_ < index) {
      absl::StatusOr<bool> hasWindow = findWindow();
      if (!hasWindow.ok())
        return hasWindow.status();
      if (!*hasWindow)
        break;
      advance();
    }
    return next_;
  }

  Access access() const override { return Access::Forward; }

private:
  void advance() {
    begin_ += stride_;
    ++next_;
  }

  /// Has the tokens of the next window at begin_, or gives false at the end of the last file.
  absl::StatusOr<bool> findWindow() {
    while (true) {
      if (!stream_) {
        if (file_ == files_.size() && next_ != 0)
          return false;
        if (file_ == files_.size())
          return tooShort(files_.back(), window_, vocabulary_ ? &*vocabulary_ : nullptr);
        absl::StatusOr<InputFile> file = InputFile::open(files_[file_], cancelled_);
        if (!file.ok())
          return file.status();
        stream_.emplace(*std::move(file), vocabulary_ ? &*vocabulary_ : nullptr);
        tokens_.clear();
        begin_ = 0;
      }
      if (static_cast<int64_t>(tokens_.size()) - begin_ >= window_)
        return true;
      // What lies before the window is of no use any more. A stride may lead beyond what was read.
      int64_t used = std::min(begin_, static_cast<int64_t>(tokens_.size()));
      tokens_.erase(tokens_.begin(), tokens_.begin() + used);
      begin_ -= used;
      size_t before = tokens_.size();
      if (absl::Status status = stream_->append(tokens_); !status.ok())
        return status;
      if (tokens_.size() == before) {
        stream_.reset();
        ++file_;
      }
    }
  }

  const std::vector<std::string> files_;
  const std::atomic<bool> *cancelled_;
  const int64_t window_, stride_;
  const std::optional<Vocabulary> vocabulary_;
  size_t file_ = 0; ///< The one that is open or comes next.
  std::optional<TokenStream> stream_;
  std::vector<int64_t> tokens_; ///< Of the open file, from some place on.
  int64_t begin_ = 0;           ///< Of the next window, in tokens_.
  int64_t next_ = 0;            ///< The index of the next window.
};

//===-- Windows in memory
//----------------------------------------------------------------------===//

/// All tokens of the files, once, and the windows over them: those overlap, so that a table of them
/// would be as many times larger as a window is longer than its stride.
class WindowTable : public ExampleReader {
public:
  WindowTable(int64_t window, int64_t stride, int64_t tokenSize)
      : window_(window), stride_(stride), tokenSize_(tokenSize) {}

  absl::Status load(const ReaderInput &input, const Vocabulary *vocabulary) {
    std::vector<int64_t> piece;
    int64_t used = 0; // Bytes of tokens_.
    for (const std::string &path : input.allFiles()) {
      absl::StatusOr<InputFile> file = InputFile::open(path, input.cancelled);
      if (!file.ok())
        return file.status();
      TokenStream stream(*std::move(file), vocabulary);
      int64_t begin = used;
      do {
        piece.clear();
        if (absl::Status status = stream.append(piece); !status.ok())
          return status;
        int64_t size = static_cast<int64_t>(piece.size()) * tokenSize_;
        if (absl::Status status = tokens_.reserveMore(used, size); !status.ok())
          return status;
        put(piece, tokens_.data() + used);
        used += size;
      } while (!piece.empty());
      int64_t count = (used - begin) / tokenSize_;
      parts_.push_back({begin, numWindows_});
      numWindows_ += count < window_ ? 0 : (count - window_) / stride_ + 1;
    }
    if (numWindows_ == 0)
      return tooShort(input.allFiles().back(), window_, vocabulary);
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override {
    count = std::min(count, numWindows_ - next_);
    char *to = fields[0];
    for (int64_t i = 0; i < count; ++i, ++next_) {
      auto part = std::upper_bound(parts_.begin(), parts_.end(), next_,
                                   [](int64_t at, const Part &each) { return at < each.window; });
      --part; // The first one begins with window 0.
      size_t size = static_cast<size_t>(window_ * tokenSize_);
      std::memcpy(to, tokens_.data() + part->begin + (next_ - part->window) * stride_ * tokenSize_,
                  size);
      to += size;
    }
    return count;
  }

  absl::StatusOr<int64_t> seek(int64_t index) override {
    return next_ = std::min(index, numWindows_);
  }

  Access access() const override { return Access::InMemory; }

private:
  /// A file: its first byte in tokens_ and the index of its first window.
  struct Part {
    int64_t begin;
    int64_t window;
  };

  void put(const std::vector<int64_t> &tokens, uint8_t *to) const {
    if (tokenSize_ == 1)
      std::transform(tokens.begin(), tokens.end(), to,
                     [](int64_t token) { return static_cast<uint8_t>(token); });
    else if (!tokens.empty())
      std::memcpy(to, tokens.data(), tokens.size() * sizeof(int64_t));
  }

  const int64_t window_, stride_, tokenSize_;
  GrowingBytes tokens_;
  std::vector<Part> parts_;
  int64_t numWindows_ = 0;
  int64_t next_ = 0;
};

//===-- Lines ---------------------------------------------------------------------------------===//

class LinesReader : public ExampleReader {
public:
  LinesReader(const ReaderInput &input, int64_t length)
      : files_(input.allFiles()), cancelled_(input.cancelled), length_(length) {}

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override {
    int64_t done = 0;
    for (; done < count; ++done) {
      absl::StatusOr<bool> hasLine = nextLine();
      if (!hasLine.ok())
        return hasLine.status();
      if (!*hasLine)
        break;
      char *to = fields[0] + done * length_;
      std::fill(std::copy(text_.begin(), text_.end(), to), to + length_, '\0');
      int64_t size = static_cast<int64_t>(text_.size());
      std::memcpy(fields[1] + done * static_cast<int64_t>(sizeof(size)), &size, sizeof(size));
    }
    return done;
  }

  absl::StatusOr<int64_t> seek(int64_t index) override {
    if (index < next_) {
      open_.reset();
      file_ = 0;
      next_ = 0;
    }
    while (next_ < index) {
      absl::StatusOr<bool> hasLine = nextLine();
      if (!hasLine.ok())
        return hasLine.status();
      if (!*hasLine)
        break;
    }
    return next_;
  }

  Access access() const override { return Access::Forward; }

private:
  /// Reads the next line, without its end, to text_.
  absl::StatusOr<bool> nextLine() {
    text_.clear();
    bool hasBytes = false;
    while (true) {
      if (!open_) {
        if (file_ == files_.size())
          return false;
        absl::StatusOr<InputFile> file = InputFile::open(files_[file_], cancelled_);
        if (!file.ok())
          return file.status();
        open_.emplace(*std::move(file));
        at_ = end_ = 0;
        line_ = 1;
      }
      if (at_ == end_) {
        absl::StatusOr<int64_t> found = open_->read(buffer_, sizeof(buffer_));
        if (!found.ok())
          return found.status();
        at_ = 0;
        end_ = *found;
        if (end_ == 0) {
          absl::StatusOr<bool> hasLine = false;
          if (hasBytes)
            hasLine = endLine();
          open_.reset();
          ++file_;
          if (!hasLine.ok() || *hasLine)
            return hasLine;
          continue;
        }
      }
      const char *stop = std::find(buffer_ + at_, buffer_ + end_, '\n');
      // One byte more than fits is enough to say so, and may be the \r of a line's end.
      size_t room = static_cast<size_t>(length_) + 2 - std::min(text_.size(), size_t(length_) + 2);
      text_.append(buffer_ + at_, std::min<size_t>(room, stop - (buffer_ + at_)));
      hasBytes = true;
      at_ = stop - buffer_;
      if (at_ == end_)
        continue;
      ++at_;
      return endLine();
    }
  }

  absl::StatusOr<bool> endLine() {
    if (!text_.empty() && text_.back() == '\r')
      text_.pop_back();
    if (static_cast<int64_t>(text_.size()) > length_)
      return absl::InvalidArgumentError(absl::StrCat(files_[file_], ":", line_, ":", length_ + 1,
                                                     ": expects lines of at most ", length_,
                                                     " bytes, found a longer one"));
    ++line_;
    ++next_;
    return true;
  }

  const std::vector<std::string> files_;
  const std::atomic<bool> *cancelled_;
  const int64_t length_;
  size_t file_ = 0;
  std::optional<InputFile> open_;
  char buffer_[1 << 14];
  int64_t at_ = 0, end_ = 0;
  int64_t line_ = 1;
  std::string text_;
  int64_t next_ = 0;
};

} // namespace

absl::StatusOr<SourceHeader> probeText(const ReaderInput &input) {
  absl::StatusOr<int64_t> window = numberOf(input, "window", 0);
  if (!window.ok())
    return window.status();
  if (absl::Status status = numberOf(input, "stride", 1).status(); !status.ok())
    return status;
  if (absl::Status status = checkFiles(input); !status.ok())
    return status;
  if (absl::Status status = Vocabulary::check(input); !status.ok())
    return status;
  SourceHeader header;
  header.fields = {{input.option("vocabulary") ? DType::I64 : DType::U8, {*window}}};
  return header;
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openText(const ReaderInput &input) {
  absl::StatusOr<int64_t> window = numberOf(input, "window", 0);
  if (!window.ok())
    return window.status();
  absl::StatusOr<int64_t> stride = numberOf(input, "stride", 1);
  if (!stride.ok())
    return stride.status();
  std::optional<Vocabulary> vocabulary;
  if (input.option("vocabulary")) {
    absl::StatusOr<Vocabulary> loaded = Vocabulary::load(input);
    if (!loaded.ok())
      return loaded.status();
    vocabulary.emplace(*std::move(loaded));
  }
  bool isShuffled = input.source.shuffle && input.source.window == 0;
  if (isShuffled && *stride < *window) {
    auto table = std::make_unique<WindowTable>(*window, *stride, vocabulary ? sizeof(int64_t) : 1);
    if (absl::Status status = table->load(input, vocabulary ? &*vocabulary : nullptr); !status.ok())
      return status;
    return table;
  }
  return std::make_unique<TextReader>(input, *window, *stride, std::move(vocabulary));
}

absl::StatusOr<SourceHeader> probeLines(const ReaderInput &input) {
  absl::StatusOr<int64_t> length = numberOf(input, "length", 0);
  if (!length.ok())
    return length.status();
  if (absl::Status status = checkFiles(input); !status.ok())
    return status;
  SourceHeader header;
  header.fields = {{DType::U8, {*length}}, {DType::I64, {}}};
  return header;
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openLines(const ReaderInput &input) {
  absl::StatusOr<int64_t> length = numberOf(input, "length", 0);
  if (!length.ok())
    return length.status();
  return std::make_unique<LinesReader>(input, *length);
}

} // namespace pdg

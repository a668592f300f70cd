// Lines from a terminal, by libedit.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/line_reader.h"

#include "frontend/source.h"
#include "tools/interrupt.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pdg {

std::string historyFile() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state && *state == '/')
    folder = std::filesystem::path(state) / "pdg";
  else if (home && *home)
    folder = std::filesystem::path(home) / ".local" / "state" / "pdg";
  else
    return "";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return failed ? "" : (folder / "history").string();
}

namespace {

class TerminalReader final : public LineReader {
public:
  explicit TerminalReader(CompleteFunction complete) : complete_(std::move(complete)) {
    // The editor counts columns by the locale; nothing else of it is wanted.
    if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
      std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  ~TerminalReader() override;

  bool start();
  Result read(const std::string &prompt, std::string &line) override;
  bool hasMore() override {
    int bytes = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
  }
  bool isInteractive() const override { return true; }

private:
  static TerminalReader &of(EditLine *editor) {
    TerminalReader *self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *self;
  }
  static char *promptOf(EditLine *editor) { return of(editor).prompt_.data(); }
  static int readCharacter(EditLine *editor, wchar_t *character);
  static unsigned char completeWord(EditLine *editor, int);
  int nextByte();

  CompleteFunction complete_;
  EditLine *editor_ = nullptr;
  History *history_ = nullptr;
  std::string historyFile_ = historyFile();
  std::string prompt_;
  int wakeup_[2] = {-1, -1}; ///< A pipe that Ctrl-C writes to.
  bool isInterrupted_ = false;
};

bool TerminalReader::start() {
  editor_ = el_init("pdc", stdin, stdout, stderr);
  history_ = history_init();
  if (!editor_ || !history_ || pipe(wakeup_) != 0)
    return false;
  HistEvent event;
  history(history_, &event, H_SETSIZE, 2000);
  history(history_, &event, H_SETUNIQUE, 1);
  if (!historyFile_.empty())
    history(history_, &event, H_LOAD, historyFile_.c_str());
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_PROMPT, promptOf);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_SIGNAL, 0);
  el_set(editor_, EL_HIST, history, history_);
  el_set(editor_, EL_GETCFN, readCharacter);
  el_set(editor_, EL_ADDFN, "pdg-complete", "Complete a name", completeWord);
  el_set(editor_, EL_BIND, "^I", "pdg-complete", nullptr);
  el_source(editor_, nullptr); // What the user set for all programs.
  return true;
}

TerminalReader::~TerminalReader() {
  setInterruptAction(nullptr, nullptr);
  HistEvent event;
  if (history_ && !historyFile_.empty())
    history(history_, &event, H_SAVE, historyFile_.c_str());
  if (history_)
    history_end(history_);
  if (editor_)
    el_end(editor_);
  for (int end : wakeup_)
    if (end >= 0)
      close(end);
}

LineReader::Result TerminalReader::read(const std::string &prompt, std::string &line) {
  if (takePutBack(line))
    return Result::Line;
  prompt_ = prompt;
  isInterrupted_ = false;
  clearInterrupt(INT_MAX);
  setInterruptAction(
      [](void *end) {
        char byte = 0;
        [[maybe_unused]] ssize_t written = write(*static_cast<int *>(end), &byte, 1);
      },
      &wakeup_[1]);
  int length = 0;
  // Before the prompt shows: what is typed then is for the editor.
  el_set(editor_, EL_PREP_TERM, 1);
  const char *text = el_gets(editor_, &length);
  setInterruptAction(nullptr, nullptr);
  if (isInterrupted_) {
    std::fputs("^C\n", stdout);
    el_reset(editor_);
    return isTerminated() ? Result::End : Result::Interrupted;
  }
  if (!text || length <= 0) {
    std::fputs("\n", stdout);
    return Result::End;
  }
  line.assign(text, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
    line.pop_back();
  HistEvent event;
  if (!line.empty())
    history(history_, &event, H_ENTER, line.c_str());
  return Result::Line;
}

/// The next byte of the terminal, or -1 at its end and after Ctrl-C.
int TerminalReader::nextByte() {
  for (;;) {
    pollfd ends[2] = {{STDIN_FILENO, POLLIN, 0}, {wakeup_[0], POLLIN, 0}};
    if (poll(ends, 2, -1) < 0)
      continue; // A signal: if it was Ctrl-C, the pipe has a byte now.
    char byte = 0;
    if (ends[1].revents) {
      isInterrupted_ = ::read(wakeup_[0], &byte, 1) == 1;
      return -1;
    }
    ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    return count == 1 ? static_cast<unsigned char>(byte) : -1;
  }
}

int TerminalReader::readCharacter(EditLine *editor, wchar_t *character) {
  TerminalReader &self = of(editor);
  int first = self.nextByte();
  if (first < 0)
    return 0;
  std::string bytes(1, static_cast<char>(first));
  int following = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  for (int i = 0; i < following; ++i) {
    int byte = self.nextByte();
    if (byte < 0)
      return 0;
    bytes += static_cast<char>(byte);
  }
  size_t offset = 0;
  *character = static_cast<wchar_t>(decodeUtf8(bytes, offset));
  return 1;
}

/// The longest text with which all of `words` begin.
std::string commonStart(const std::vector<std::string> &words) {
  std::string start = words.front();
  for (const std::string &word : words)
    start.resize(std::mismatch(start.begin(), start.end(), word.begin(), word.end()).first -
                 start.begin());
  return start;
}

unsigned char TerminalReader::completeWord(EditLine *editor, int) {
  const LineInfo *info = el_line(editor);
  const char *begin = info->cursor;
  auto isPart = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
  };
  while (begin > info->buffer && isPart(begin[-1]))
    --begin;
  std::string word(begin, info->cursor);
  std::vector<std::string> words = of(editor).complete_(word);
  if (words.empty())
    return CC_ERROR;
  std::string rest = commonStart(words).substr(word.size());
  if (!rest.empty())
    return el_insertstr(editor, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  if (words.size() == 1)
    return CC_NORM;
  std::fputc('\n', stdout);
  for (const std::string &each : words)
    std::printf("%s  ", each.c_str());
  std::fputc('\n', stdout);
  return CC_REDISPLAY;
}

} // namespace

std::unique_ptr<LineReader> makeTerminalReader(CompleteFunction complete) {
  auto reader = std::make_unique<TerminalReader>(std::move(complete));
  if (!reader->start())
    return nullptr;
  return reader;
}

} // namespace pdg

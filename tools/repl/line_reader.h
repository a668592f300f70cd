// Where the lines of a session come from: a terminal with editing, history and completion, or a
// pipe. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdg {

/// Gives the words that may stand where the text before the cursor ends in `word`.
using CompleteFunction = std::function<std::vector<std::string>(const std::string &word)>;

class LineReader {
public:
  enum class Result { Line, End, Interrupted };

  virtual ~LineReader() = default;

  /// Reads a line without its end.
  virtual Result read(const std::string &prompt, std::string &line) = 0;

  /// The next line is put where read() finds it first.
  void putBack(std::string line) {
    putBack_ = std::move(line);
    hasPutBack_ = true;
  }

  /// True if more lines are there already, as after something was pasted.
  virtual bool hasMore() = 0;

  /// True if a person types the lines.
  virtual bool isInteractive() const = 0;

protected:
  /// Takes the line that was put back, if there is one.
  bool takePutBack(std::string &line) {
    if (!hasPutBack_)
      return false;
    line = std::move(putBack_);
    hasPutBack_ = false;
    return true;
  }

private:
  std::string putBack_;
  bool hasPutBack_ = false;
};

/// Lines of standard input, as they are.
std::unique_ptr<LineReader> makePipeReader();

/// Lines that are edited on the terminal. The history is kept in $XDG_STATE_HOME/pdg or
/// ~/.local/state/pdg. Null if the terminal cannot be used.
std::unique_ptr<LineReader> makeTerminalReader(CompleteFunction complete);

/// The file of the history; empty if there is no place for it.
std::string historyFile();

} // namespace pdg

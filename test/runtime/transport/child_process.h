// A child process whose lines a test reads and which it may kill. POSIX only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pdg {

/// Ends with its owner, by force.
class ChildProcess {
public:
  /// Starts a program that lies beside this one.
  ChildProcess(const std::string &program, const std::vector<std::string> &arguments);
  ChildProcess(const ChildProcess &) = delete;
  ~ChildProcess();

  void write(const std::string &text);

  /// The next line of its output; empty if none comes within `limit` or it has ended.
  std::string readLine(std::chrono::milliseconds limit = std::chrono::seconds(20));

  void signal(int number);

  /// Waits for its end and returns the exit status; -1 after a signal.
  int wait();

private:
  int pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffered_;
};

} // namespace pdg

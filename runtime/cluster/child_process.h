// A process that this one starts, watches and ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdg {

/// A child. It is killed when its parent dies, however that happens, and ignores what a terminal
/// sends to its parent. Movable.
class ChildProcess {
public:
  /// Starts `arguments[0]` with the arguments. Standard input is empty, standard output and error
  /// are the parent's error output.
  static absl::StatusOr<ChildProcess> start(const std::vector<std::string> &arguments);

  ChildProcess(ChildProcess &&other) noexcept;
  ChildProcess &operator=(ChildProcess &&) = delete;
  /// Kills it if it still runs, and waits for its end.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Readable (as poll says) once the process has ended.
  int descriptor() const { return descriptor_; }

  /// Waits at most so long for the end; true once it ended.
  bool waitFor(std::chrono::milliseconds limit);
  /// Whether it is stopped, as by SIGSTOP: it lives, and does nothing.
  bool isStopped() const;
  void kill();
  /// How it ended: "ended with exit code 3", "was killed by signal 9 (Killed)". After its end.
  std::string describeEnd() const;

private:
  ChildProcess(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}

  pid_t pid_;
  int descriptor_;
  bool hasEnded_ = false;
  int status_ = 0;
};

} // namespace pdg

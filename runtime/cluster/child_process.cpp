// Starts, watches and ends processes through descriptors, so that a number which the system uses
// again hits nobody else.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/child_process.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace pdg {

namespace {

/// In the child, between fork and exec: only what is async-signal-safe.
[[noreturn]] void becomeProgram(char *const *arguments, pid_t parent, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before.
  if (getppid() != parent)
    _exit(127);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int input = open("/dev/null", O_RDONLY);
  if (input >= 0)
    dup2(input, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv(arguments[0], arguments);
  int error = errno;
  [[maybe_unused]] ssize_t written = write(errors, &error, sizeof error);
  _exit(127);
}

} // namespace

absl::StatusOr<ChildProcess> ChildProcess::start(const std::vector<std::string> &arguments) {
  std::vector<char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  int errors[2];
  if (pipe2(errors, O_CLOEXEC) != 0)
    return absl::ResourceExhaustedError(absl::StrCat("cannot make a pipe: ", strerror(errno)));
  pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    becomeProgram(pointers.data(), parent, errors[1]);
  int forkError = errno, error = 0;
  close(errors[1]);
  bool hasFailed = pid > 0 && read(errors[0], &error, sizeof error) == sizeof error;
  close(errors[0]);
  if (pid < 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a process: ", strerror(forkError)));
  int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  ChildProcess child(pid, descriptor);
  if (hasFailed)
    return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", strerror(error)));
  if (descriptor < 0)
    return absl::UnavailableError("cannot watch a process: the kernel is older than 5.3");
  return child;
}

ChildProcess::ChildProcess(ChildProcess &&other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)),
      hasEnded_(other.hasEnded_), status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0)
    return;
  if (!hasEnded_) {
    kill();
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
  }
  if (descriptor_ >= 0)
    close(descriptor_);
}

bool ChildProcess::waitFor(std::chrono::milliseconds limit) {
  auto end = std::chrono::steady_clock::now() + limit;
  while (!hasEnded_) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd watched{descriptor_, POLLIN, 0};
    int ready = poll(&watched, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    hasEnded_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  }
  return true;
}

bool ChildProcess::isStopped() const {
  // "PID (name) state ...": the name may have spaces and brackets.
  std::ifstream file(absl::StrCat("/proc/", pid_, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t end = text.rfind(") ");
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'T';
}

void ChildProcess::kill() {
  if (!hasEnded_)
    ::kill(pid_, SIGKILL);
}

std::string ChildProcess::describeEnd() const {
  if (WIFSIGNALED(status_))
    return absl::StrCat("was killed by signal ", WTERMSIG(status_), " (",
                        strsignal(WTERMSIG(status_)), ")");
  return absl::StrCat("ended with exit code ", WEXITSTATUS(status_));
}

} // namespace pdg

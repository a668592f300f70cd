// Starting and ending child processes. SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/child_process.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pdg {

ChildProcess::ChildProcess(const std::string &program, const std::vector<std::string> &arguments) {
  std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  std::vector<char *> words = {path.data()};
  std::vector<std::string> copies = arguments;
  for (std::string &word : copies)
    words.push_back(word.data());
  words.push_back(nullptr);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  if (posix_spawn(&pid_, path.c_str(), &actions, nullptr, words.data(), environ) != 0)
    pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    signal(SIGKILL);
    wait();
  }
  close(input_);
  close(output_);
}

void ChildProcess::write(const std::string &text) {
  [[maybe_unused]] ssize_t written = ::write(input_, text.data(), text.size());
}

std::string ChildProcess::readLine(std::chrono::milliseconds limit) {
  auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (size_t line = buffered_.find('\n'); line != std::string::npos) {
      std::string text = buffered_.substr(0, line);
      buffered_.erase(0, line + 1);
      return text;
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd source = {output_, POLLIN, 0};
    if (left.count() <= 0 || poll(&source, 1, static_cast<int>(left.count())) <= 0)
      return "";
    char bytes[4096];
    ssize_t count = read(output_, bytes, sizeof(bytes));
    if (count <= 0)
      return "";
    buffered_.append(bytes, static_cast<size_t>(count));
  }
}

void ChildProcess::signal(int number) {
  if (pid_ > 0)
    kill(pid_, number);
}

int ChildProcess::wait() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, 0) != pid_)
    return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace pdg

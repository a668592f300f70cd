// The signal handlers behind Ctrl-C.
// SPDX-License-Identifier: Apache-2.0
#include "tools/interrupt.h"
#include "tools/driver.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace pdg {

using Action = void (*)(void *argument);

static std::atomic<int> asked{0}; ///< How often the user asked to stop.
static std::atomic<int> limit{1}; ///< Compiling leaves nothing behind that needs an orderly end.
static std::atomic<bool> terminated{false};
static std::atomic<Action> currentAction{nullptr};
static std::atomic<void *> currentArgument{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<void *>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

static void handleInterrupt(int signal) {
  if (signal == SIGTERM)
    terminated = true;
  if (++asked >= limit) {
    constexpr char message[] = "interrupted\n";
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(ExitInterrupted);
  }
  if (Action action = currentAction)
    action(currentArgument);
}

void installInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = handleInterrupt;
  sigemptyset(&action.sa_mask);
  // A read or a wait that the signal breaks off is taken up again: the action is what stops a run.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool isInterrupted() { return asked != 0; }

bool isTerminated() { return terminated; }

void clearInterrupt(int patience) {
  limit = patience;
  asked = 0;
}

void setInterruptAction(Action action, void *argument) {
  // The argument is there before the action that takes it, so the handler sees both or none.
  currentAction = nullptr;
  currentArgument = argument;
  currentAction = action;
  if (action && isInterrupted())
    action(argument);
}

} // namespace pdg

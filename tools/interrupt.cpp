// The signal handlers behind Ctrl-C.
// SPDX-License-Identifier: Apache-2.0
#include "tools/interrupt.h"
#include "tools/driver.h"

#include <csignal>
#include <unistd.h>

namespace pdg {

static std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only set such a flag");

static void handleInterrupt(int) {
  if (interrupted.exchange(true))
    _exit(ExitInterrupted);
}

void installInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = handleInterrupt;
  sigemptyset(&action.sa_mask);
  // A read or a wait that the signal breaks off is taken up again: the flag is what is looked at.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool> &interruptFlag() { return interrupted; }

} // namespace pdg

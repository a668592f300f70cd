// Ctrl-C: the first asks the run to end in order, the second ends the process at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace pdg {

/// Makes SIGINT and SIGTERM set the flag of `interruptFlag`. A second one ends the process with
/// exit code 130 without waiting. Called once, before threads are started.
void installInterruptHandler();

/// True once the user asked to stop. Whoever loops reads it; nobody but the handler sets it.
const std::atomic<bool> &interruptFlag();

} // namespace pdg

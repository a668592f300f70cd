// Ctrl-C: while a program is compiled the first one ends the process, while it runs the first one
// asks the run to end in order and the second one ends the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pdg {

/// Makes SIGINT and SIGTERM end the process with exit code 130, from the first `clearInterrupt` on
/// only if they come repeatedly. Called once, before threads are started.
void installInterruptHandler();

/// True once the user asked to stop.
bool isInterrupted();

/// True once somebody asked the process to end (SIGTERM).
bool isTerminated();

/// Forgets that the user asked to stop: what was to be stopped has stopped, or begins only now.
/// From now on the process ends without waiting when it is asked `patience` times.
void clearInterrupt(int patience);

/// Calls `action(argument)` when the user asks to stop, or at once if that happened before; null
/// takes the action away. The action runs inside the signal handler, so it may only do what is
/// async-signal-safe (set a lock-free flag); `argument` must outlive it.
void setInterruptAction(void (*action)(void *argument), void *argument);

} // namespace pdg

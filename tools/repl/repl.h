// `pdc repl`: reads entries, runs each at once, keeps the state between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/driver.h"

namespace pdg {

/// Runs a session on standard input until it ends. The file of `arguments`, if there is one, is
/// loaded first. On a terminal there are prompts and a line editor; otherwise errors make the exit
/// code 1. Returns an exit code.
int replCommand(const RunArguments &arguments);

} // namespace pdg

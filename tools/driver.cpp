// Stands in for the commands that compile, until the parts that they join are there.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"

#include <cstdio>

namespace pdg {

static int notBuiltYet(const char *command) {
  std::fprintf(stderr, "pdc %s: not built yet\n", command);
  return ExitWrongInput;
}

int runCommand(const RunOptions &options) { return notBuiltYet("run"); }

int checkCommand(const CheckOptions &options) { return notBuiltYet("check"); }

int emitCommand(const EmitOptions &options) { return notBuiltYet("emit"); }

} // namespace pdg

// Stands in for the commands that compile, until the parts that they join are there.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"

#include <cstdio>

namespace pdg {

static int notBuiltYet(const char *command) {
  std::fprintf(stderr, "pdc %s: not built yet\n", command);
  return ExitWrongInput;
}

int runCommand(const RunArguments &options) { return notBuiltYet("run"); }

int checkCommand(const CheckArguments &options) { return notBuiltYet("check"); }

int emitCommand(const EmitArguments &options) { return notBuiltYet("emit"); }

} // namespace pdg

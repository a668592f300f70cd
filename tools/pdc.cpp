// pdc: compiles and runs .pdg scripts. The command line is in cli*.cpp, the work in driver*.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"
#include "tools/interrupt.h"

int main(int argc, char **argv) {
  pdg::installInterruptHandler();
  return pdg::runCommandLine(argc, argv);
}

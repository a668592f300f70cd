// The code of a program: its initialization counts the first variable up, its main doubles it.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

int64_t pdg_poll(void *ctx);

int64_t pdg_init(void *ctx, char **variables, char *arena) {
  ++*(int64_t *)variables[0];
  return 0;
}

int64_t pdg_main(void *ctx, char **variables, char *arena) {
  *(int64_t *)variables[0] *= 2;
  return pdg_poll(ctx);
}

// The programs of a small job, in C: trainers send their number plus one, the server adds up what
// they send and sends it back, trainer 0 prints it. What goes wrong is chosen by the seed.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int64_t pdg_replica(void *ctx);
int64_t pdg_seed(void *ctx);
int64_t pdg_send(void *ctx, int64_t edge, char *value, int64_t *dims);
int64_t pdg_recv(void *ctx, int64_t edge, char *value, int64_t *dims);
int64_t pdg_accumulate(void *ctx, int64_t edge, int64_t joining, int64_t count, char *value,
                       int64_t *dims);
int64_t pdg_print(void *ctx, int64_t site, char **values, int64_t *dims);
int64_t pdg_fetch(void *ctx, int64_t site, char *value, int64_t *dims);
int64_t pdg_fail(void *ctx, int64_t site, char **values, int64_t *dims);

enum { TRAINERS = 2, ROUNDS = 3 };
// Seeds.
enum { KILLED = 1, FAILED = 2, FROZEN = 3 };

int64_t pdg_init(void *ctx, char **variables, char *arena) { return 0; }

#ifdef TRAINER
int64_t pdg_main(void *ctx, char **variables, char *arena) {
  int64_t value = pdg_replica(ctx) + 1, dims[1] = {0};
  char *values[1] = {(char *)&value};
  for (int round = 0; round < ROUNDS; ++round) {
    if (round == 1 && pdg_replica(ctx) == 1) {
      if (pdg_seed(ctx) == KILLED)
        kill(getpid(), SIGKILL);
      if (pdg_seed(ctx) == FROZEN)
        kill(getpid(), SIGSTOP);
      if (pdg_seed(ctx) == FAILED)
        return pdg_fail(ctx, 1, values, dims);
    }
    if (pdg_send(ctx, 0, (char *)&value, dims) || pdg_recv(ctx, 1, (char *)&value, dims))
      return 1;
    value += pdg_replica(ctx);
  }
  if (pdg_replica(ctx) == 0 && pdg_print(ctx, 0, values, dims))
    return 1;
  return pdg_fetch(ctx, 0, (char *)&value, dims);
}
#else
int64_t pdg_main(void *ctx, char **variables, char *arena) {
  int64_t *total = (int64_t *)variables[0], dims[1] = {0};
  for (int round = 0; round < ROUNDS; ++round)
    if (pdg_accumulate(ctx, 0, 0, TRAINERS, (char *)total, dims) ||
        pdg_send(ctx, 1, (char *)total, dims))
      return 1;
  return 0;
}
#endif

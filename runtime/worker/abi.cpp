// The functions that compiled programs call: each is a method of the run's ExecutionContext.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi.h"

#include "runtime/worker/execution_context.h"

using pdg::ExecutionContext;

namespace {

ExecutionContext &contextOf(void *ctx) { return *static_cast<ExecutionContext *>(ctx); }

// The form in which compiled code gets the answer of a method.
int64_t statusOf(bool goesOn) { return goesOn ? 0 : 1; }

} // namespace

extern "C" {

int64_t pdg_data_open(void *ctx, int64_t source) {
  return statusOf(contextOf(ctx).openSource(source));
}

int64_t pdg_data_next(void *ctx, int64_t source, char **fields) {
  return contextOf(ctx).nextBatch(source, fields);
}

int64_t pdg_data_size(void *ctx, int64_t source) { return contextOf(ctx).sourceSize(source); }

int64_t pdg_input_get(void *ctx, int64_t input, char **data, int64_t *dims) {
  pdg::HostTensor &tensor = contextOf(ctx).input(input);
  *data = reinterpret_cast<char *>(tensor.bytes());
  for (size_t axis = 0; axis < tensor.shape().size(); ++axis)
    dims[axis] = tensor.shape()[axis];
  return 0;
}

int64_t pdg_print(void *ctx, int64_t site, char **values, int64_t *dims) {
  return statusOf(contextOf(ctx).print(site, values, dims));
}

int64_t pdg_fetch(void *ctx, int64_t site, char *value, int64_t *dims) {
  return statusOf(contextOf(ctx).fetch(site, value, dims));
}

int64_t pdg_fail(void *ctx, int64_t site, char **values, int64_t *dims) {
  return statusOf(contextOf(ctx).fail(site, values, dims));
}

int64_t pdg_poll(void *ctx) { return statusOf(contextOf(ctx).poll()); }

int64_t pdg_seed(void *ctx) { return static_cast<int64_t>(contextOf(ctx).seed()); }

int64_t pdg_threads(void *ctx) { return contextOf(ctx).threads(); }

void pdg_parallel(void *ctx, void (*task)(void *args, int64_t i, int64_t tasks), void *args,
                  int64_t tasks) {
  contextOf(ctx).parallel(task, args, tasks);
}

int64_t pdg_replica(void *ctx) { return contextOf(ctx).replica(); }

int64_t pdg_send(void *ctx, int64_t edge, char *value, int64_t *dims) {
  return statusOf(contextOf(ctx).send(edge, value, dims));
}

int64_t pdg_recv(void *ctx, int64_t edge, char *value, int64_t *dims) {
  return statusOf(contextOf(ctx).receive(edge, value, dims));
}

int64_t pdg_accumulate(void *ctx, int64_t edge, int64_t joining, int64_t count, char *value,
                       int64_t *dims) {
  return statusOf(
      contextOf(ctx).accumulate(edge, static_cast<pdg::Joining>(joining), count, value, dims));
}

int64_t pdg_collect(void *ctx, int64_t edge, int64_t axis, int64_t count, char *value,
                    int64_t *dims) {
  return statusOf(contextOf(ctx).collect(edge, axis, count, value, dims));
}

int64_t pdg_enqueue(void *ctx, int64_t edge, int64_t capacity, char *value, int64_t *dims) {
  return statusOf(contextOf(ctx).enqueue(edge, capacity, value, dims));
}

int64_t pdg_dequeue(void *ctx, int64_t edge, char *value, int64_t *dims) {
  return statusOf(contextOf(ctx).dequeue(edge, value, dims));
}

} // extern "C"

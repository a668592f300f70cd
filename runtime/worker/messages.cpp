// Messages to and from the other processes of the cluster.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/execution_context.h"

namespace pdg {

static absl::Status noPeers() {
  return absl::FailedPreconditionError("this process belongs to no cluster: it has no peers");
}

bool ExecutionContext::send(int64_t, const char *, const int64_t *) { return fail(noPeers()); }
bool ExecutionContext::receive(int64_t, char *, const int64_t *) { return fail(noPeers()); }
bool ExecutionContext::accumulate(int64_t, Joining, int64_t, char *, const int64_t *) {
  return fail(noPeers());
}
bool ExecutionContext::collect(int64_t, int64_t, int64_t, char *, const int64_t *) {
  return fail(noPeers());
}
bool ExecutionContext::enqueue(int64_t, int64_t, const char *, const int64_t *) {
  return fail(noPeers());
}
bool ExecutionContext::dequeue(int64_t, char *, const int64_t *) { return fail(noPeers()); }

} // namespace pdg

// Messages to and from the other processes of the cluster, and queues inside this one. In the
// steady state nothing is allocated: messages are read where the exchange has them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/execution_context.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pdg {

namespace {

/// Adds the time that it lives to a number of nanoseconds.
class Stopwatch {
public:
  explicit Stopwatch(int64_t &nanoseconds) : nanoseconds_(nanoseconds) {}
  ~Stopwatch() { nanoseconds_ += (std::chrono::steady_clock::now() - begin_).count(); }

private:
  int64_t &nanoseconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int64_t elementsOf(std::span<const int64_t> sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  return elements;
}

int64_t bytesOf(const EdgeInfo &edge, std::span<const int64_t> sizes) {
  return elementsOf(sizes) * static_cast<int64_t>(sizeOf(edge.dtype));
}

void copyBytes(char *to, const char *from, int64_t bytes) {
  if (bytes != 0)
    std::memcpy(to, from, static_cast<size_t>(bytes));
}

absl::Status noPeers() {
  return absl::FailedPreconditionError("this process belongs to no cluster: it has no peers");
}

/// The parts that a task joins, and where the result goes.
struct JoinTask {
  Joining joining;
  DType dtype;
  std::span<const TensorView> parts;
  char *result;
  int64_t bytes;
};

constexpr int64_t kJoinBytes = 2048; ///< What a task joins at once: stays in the nearest cache.
constexpr int kJoinLevels = 17;      ///< Of a tree of 65536 parts.

/// Joins the bytes from `begin` on of all parts as joinTree does. A part is joined as soon as its
/// neighbour is there, so a buffer for each level of the tree is enough.
void joinPiece(const JoinTask &task, int64_t begin, int64_t bytes) {
  alignas(64) char levels[kJoinLevels][kJoinBytes];
  int64_t elements = bytes / static_cast<int64_t>(sizeOf(task.dtype));
  // Level l is taken if bit l of the number of parts so far is set, as in a binary counter.
  size_t count = 0;
  for (const TensorView &part : task.parts) {
    int level = 0;
    for (size_t bits = count++; bits & 1; bits >>= 1)
      ++level;
    char *place = levels[level];
    if (level == 0) {
      copyBytes(place, part.data + begin, bytes);
      continue;
    }
    // The left operand of each join is the earlier part.
    joinElements(task.joining, task.dtype, levels[0], part.data + begin, elements);
    for (int l = 1; l < level; ++l)
      joinElements(task.joining, task.dtype, levels[l], levels[l - 1], elements);
    copyBytes(place, levels[level - 1], bytes);
  }
  // What has no neighbour moves up until it has one.
  const char *rest = nullptr;
  for (int level = 0; level < kJoinLevels; ++level) {
    if (!(count >> level & 1))
      continue;
    if (rest)
      joinElements(task.joining, task.dtype, levels[level], rest, elements);
    rest = levels[level];
  }
  copyBytes(task.result + begin, rest, bytes);
}

void runJoinTask(void *args, int64_t i, int64_t tasks) {
  const JoinTask &task = *static_cast<const JoinTask *>(args);
  int64_t pieces = (task.bytes + kJoinBytes - 1) / kJoinBytes;
  for (int64_t piece = pieces * i / tasks; piece < pieces * (i + 1) / tasks; ++piece)
    joinPiece(task, piece * kJoinBytes, std::min(kJoinBytes, task.bytes - piece * kJoinBytes));
}

} // namespace

void ExecutionContext::join(Exchange &exchange, std::optional<int64_t> replica) {
  exchange_ = &exchange;
  replica_ = replica.value_or(exchange.self().index);
  const Topology &topology = exchange.topology();
  receivers_.assign(topology.edges.size(), {});
  for (size_t edge = 0; edge < receivers_.size(); ++edge)
    for (Peer peer : allPeers(topology))
      if (connects(topology.edges[edge], exchange.self(), peer))
        receivers_[edge].push_back(peer);
  parts_.reserve(static_cast<size_t>(topology.trainers));
}

// A peer that ended, or was stopped, before it sent what is waited for: it knows why.
bool ExecutionContext::failMessage(int64_t edge, const absl::Status &status) {
  if (error_.exitCode != 0)
    return false;
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  fail(absl::Status(status.code(), absl::StrCat("'", info.name, "': ", status.message())),
       info.place);
  error_.isConsequence = absl::IsOutOfRange(status) || !exchange_->status().ok();
  return false;
}

bool ExecutionContext::send(int64_t edge, const char *value, const int64_t *dims) {
  if (!exchange_)
    return fail(noPeers());
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  if (info.firstOnly && exchange_->self().index != 0)
    return true;
  std::span<const int64_t> sizes(dims, info.shape.size());
  Stopwatch watch(messages_.waitNanoseconds);
  for (Peer peer : receivers_[static_cast<size_t>(edge)]) {
    if (absl::Status status = exchange_->send(edge, peer, {value, sizes}); !status.ok())
      return failMessage(edge, status);
    ++messages_.sent;
    messages_.bytesSent += bytesOf(info, sizes);
  }
  return true;
}

bool ExecutionContext::take(int64_t edge, int64_t from, TensorView &message) {
  if (!exchange_)
    return fail(noPeers());
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  Stopwatch watch(messages_.waitNanoseconds);
  absl::StatusOr<TensorView> received = exchange_->receive(edge, {info.fromKind, from});
  if (!received.ok())
    return failMessage(edge, received.status());
  message = *received;
  ++messages_.received;
  messages_.bytesReceived += bytesOf(info, message.sizes);
  return true;
}

/// Says that sizes are not those that the program expects.
static absl::Status wrongSizes(const EdgeInfo &info, std::span<const int64_t> expected,
                               std::span<const int64_t> found) {
  return absl::InvalidArgumentError(absl::StrCat("expects ", typeString(info.dtype, expected),
                                                 ", got ", typeString(info.dtype, found)));
}

// Takes a message and checks its sizes, but for that of axis `freeAxis`.
bool ExecutionContext::takeAs(int64_t edge, int64_t from, const int64_t *dims, int64_t freeAxis,
                              TensorView &message) {
  if (!take(edge, from, message))
    return false;
  for (size_t axis = 0; axis < message.sizes.size(); ++axis)
    if (static_cast<int64_t>(axis) != freeAxis && message.sizes[axis] != dims[axis])
      return failMessage(edge, wrongSizes(exchange_->topology().edges[static_cast<size_t>(edge)],
                                          {dims, message.sizes.size()}, message.sizes));
  return true;
}

bool ExecutionContext::receive(int64_t edge, char *value, const int64_t *dims) {
  if (!exchange_)
    return fail(noPeers());
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  TensorView message;
  if (!takeAs(edge, std::max<int64_t>(info.fromIndex, 0), dims, -1, message))
    return false;
  copyBytes(value, message.data, bytesOf(info, message.sizes));
  return true;
}

bool ExecutionContext::accumulate(int64_t edge, Joining joining, int64_t count, char *value,
                                  const int64_t *dims) {
  parts_.clear();
  for (int64_t from = 0; from < count; ++from)
    if (!takeAs(edge, from, dims, -1, parts_.emplace_back()))
      return false;
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  JoinTask task{joining, info.dtype, parts_, value, bytesOf(info, parts_[0].sizes)};
  // Waking threads pays from some megabytes of parts on.
  bool isLarge = task.bytes * count > (int64_t{1} << 21);
  parallel(runJoinTask, &task, isLarge ? threads() : 1);
  return true;
}

bool ExecutionContext::collect(int64_t edge, int64_t axis, int64_t count, char *value,
                               const int64_t *dims) {
  parts_.clear();
  int64_t length = 0;
  for (int64_t from = 0; from < count; ++from) {
    TensorView &part = parts_.emplace_back();
    if (!takeAs(edge, from, dims, axis, part))
      return false;
    length += part.sizes[static_cast<size_t>(axis)];
  }
  const EdgeInfo &info = exchange_->topology().edges[static_cast<size_t>(edge)];
  std::span<const int64_t> sizes(dims, info.shape.size());
  if (length != dims[axis])
    return failMessage(
        edge, absl::InvalidArgumentError(absl::StrCat("the parts of all trainers are ", length,
                                                      " long together, expected ", dims[axis])));
  // Of each part, what lies in one row of the axes before the joined one is contiguous.
  int64_t rows = elementsOf(sizes.first(static_cast<size_t>(axis)));
  int64_t rowBytes = rows ? bytesOf(info, sizes) / rows : 0, at = 0;
  for (const TensorView &part : parts_) {
    int64_t bytes = rows ? bytesOf(info, part.sizes) / rows : 0;
    for (int64_t row = 0; row < rows; ++row)
      copyBytes(value + row * rowBytes + at, part.data + row * bytes, bytes);
    at += bytes;
  }
  return true;
}

// A queue is filled and emptied by one thread: whoever would wait would wait for ever.
bool ExecutionContext::enqueue(int64_t edge, int64_t capacity, const char *value,
                               const int64_t *dims) {
  const EdgeInfo &info = program_.edges[static_cast<size_t>(edge)];
  queues_.resize(program_.edges.size());
  Queue &queue = queues_[static_cast<size_t>(edge)];
  if (queue.entries.empty())
    queue.entries.resize(static_cast<size_t>(capacity) + 1);
  if (queue.count + 1 == queue.entries.size())
    return fail(
        absl::ResourceExhaustedError(absl::StrCat("queue '", info.name, "' is full: it holds ",
                                                  queue.count, ", and nobody else takes from it")),
        info.place);
  Queue::Entry &entry = queue.entries[(queue.first + queue.count) % queue.entries.size()];
  entry.sizes.assign(dims, dims + info.shape.size());
  if (absl::Status status = entry.buffer.grow(bytesOf(info, entry.sizes)); !status.ok())
    return fail(status, info.place);
  copyBytes(entry.buffer.data(), value, bytesOf(info, entry.sizes));
  ++queue.count;
  return true;
}

bool ExecutionContext::takeQueued(int64_t edge, TensorView &value) {
  const EdgeInfo &info = program_.edges[static_cast<size_t>(edge)];
  queues_.resize(program_.edges.size());
  Queue &queue = queues_[static_cast<size_t>(edge)];
  if (queue.count == 0)
    return fail(absl::FailedPreconditionError(absl::StrCat(
                    "queue '", info.name, "' is empty, and nobody else puts anything in")),
                info.place);
  Queue::Entry &entry = queue.entries[queue.first];
  value = {entry.buffer.data(), entry.sizes};
  queue.first = (queue.first + 1) % queue.entries.size();
  --queue.count;
  return true;
}

bool ExecutionContext::dequeue(int64_t edge, char *value, const int64_t *dims) {
  const EdgeInfo &info = program_.edges[static_cast<size_t>(edge)];
  TensorView first;
  if (!takeQueued(edge, first))
    return false;
  if (!std::equal(first.sizes.begin(), first.sizes.end(), dims))
    return fail(wrongSizes(info, {dims, first.sizes.size()}, first.sizes), info.place);
  copyBytes(value, first.data, bytesOf(info, first.sizes));
  return true;
}

} // namespace pdg

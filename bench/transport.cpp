// One measurement of the transport, or of plain sockets beside it: two processes on this machine.
//   pdg-transport-bench echo|bulk|step tcp|unix|stream|memory ROUNDS
// prints the median and the 99th percentile of a round in microseconds. `bench/transport.py` runs
// it. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/process_exchange.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdg;

namespace {

using Clock = std::chrono::steady_clock;

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};
constexpr int64_t kBulkBytes = 100'000'000;
/// The dense network 784-256-10: the last layer, whose gradient comes first, and the first.
constexpr int64_t kSmall = 2570, kLarge = 200'960;

[[noreturn]] void die(const std::string &why) {
  std::fprintf(stderr, "transport-bench: %s\n", why.c_str());
  std::exit(1);
}

void check(const absl::Status &status) {
  if (!status.ok())
    die(std::string(status.message()));
}

template <typename T> T check(absl::StatusOr<T> value) {
  check(value.status());
  return *std::move(value);
}

/// The way of tensors under test. Values are made in memory that it gives and read where they lie,
/// if it can do that. `edge` 0 and 1 lead to the server, 2 and 3 back.
class Way {
public:
  virtual ~Way() = default;
  virtual float *reserve(int edge, int64_t count) = 0;
  virtual void commit(int edge) = 0;
  virtual const float *receive(int edge, int64_t count) = 0;

  /// Sends a value that lies somewhere else.
  virtual void send(int edge, const std::vector<float> &value) = 0;
};

class SocketWay : public Way {
public:
  explicit SocketWay(int socket) : socket_(socket) {}

  float *reserve(int edge, int64_t count) override {
    out_[edge].resize(static_cast<size_t>(count));
    return out_[edge].data();
  }
  void commit(int edge) override { send(edge, out_[edge]); }
  void send(int, const std::vector<float> &value) override {
    const char *bytes = reinterpret_cast<const char *>(value.data());
    for (size_t left = value.size() * sizeof(float); left > 0;) {
      ssize_t count = ::write(socket_, bytes, left);
      if (count <= 0)
        die("write failed");
      bytes += count;
      left -= static_cast<size_t>(count);
    }
  }
  const float *receive(int edge, int64_t count) override {
    in_[edge].resize(static_cast<size_t>(count));
    char *bytes = reinterpret_cast<char *>(in_[edge].data());
    for (size_t left = static_cast<size_t>(count) * sizeof(float); left > 0;) {
      ssize_t got = ::read(socket_, bytes, left);
      if (got <= 0)
        die("read failed");
      bytes += got;
      left -= static_cast<size_t>(got);
    }
    return in_[edge].data();
  }

private:
  int socket_;
  std::vector<float> out_[4], in_[4];
};

class ExchangeWay : public Way {
public:
  explicit ExchangeWay(std::unique_ptr<ProcessExchange> end)
      : end_(std::move(end)), other_(end_->self() == kTrainer ? kServer : kTrainer) {}
  ~ExchangeWay() override { end_->finish().IgnoreError(); }

  float *reserve(int edge, int64_t count) override {
    const int64_t sizes[] = {count};
    return reinterpret_cast<float *>(check(end_->reserve(edge, other_, sizes)));
  }
  void commit(int edge) override { check(end_->commit(edge, other_)); }
  void send(int edge, const std::vector<float> &value) override {
    const int64_t sizes[] = {static_cast<int64_t>(value.size())};
    check(end_->send(edge, other_, {reinterpret_cast<const char *>(value.data()), sizes}));
  }
  const float *receive(int edge, int64_t) override {
    return reinterpret_cast<const float *>(check(end_->receive(edge, other_)).data);
  }

private:
  std::unique_ptr<ProcessExchange> end_;
  Peer other_;
};

void pin(size_t number) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof(all), &all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && number-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof(one), &one);
    }
}

/// Two ends of a connection of plain sockets.
void connectSockets(bool isTcp, int ends[2]) {
  if (!isTcp) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
      die("no sockets");
    return;
  }
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, generic, length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, generic, &length) != 0 || connect(ends[0], generic, length) != 0)
    die("no sockets");
  ends[1] = accept(listener, nullptr, nullptr);
  for (int i = 0; i < 2; ++i)
    setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/// Joins the exchange; the ports travel over `control`.
std::unique_ptr<Way> joinExchange(const std::string &measure, bool sharesMemory, bool isTrainer,
                                  int control) {
  ProcessOptions options;
  int64_t largest = measure == "bulk" ? kBulkBytes / 4 : kLarge;
  for (int64_t bound : {kSmall, largest, kSmall, kLarge}) {
    EdgeInfo edge;
    edge.name = "edge";
    edge.shape = {-1};
    edge.bound = bound;
    edge.depth = bound == kSmall ? 8 : 2;
    if (options.topology.edges.size() >= 2)
      std::swap(edge.fromKind, edge.toKind);
    options.topology.edges.push_back(edge);
  }
  if (measure != "bulk")
    for (size_t i = 0; i < 4; ++i)
      options.topology.edges[i].shape = {measure == "echo" ? 1 : i % 2 == 0 ? kSmall : kLarge};
  options.topology.servers = 1;
  options.self = isTrainer ? kTrainer : kServer;
  options.sharesMemory = sharesMemory;
  auto end = check(ProcessExchange::listen(std::move(options)));
  int port = end->port(), other = 0;
  if (write(control, &port, sizeof(port)) != sizeof(port) ||
      read(control, &other, sizeof(other)) != sizeof(other))
    die("no control connection");
  check(end->connect({{isTrainer ? kServer : kTrainer, "127.0.0.1:" + std::to_string(other)}}));
  return std::make_unique<ExchangeWay>(std::move(end));
}

/// Adam over one tensor; the new values also go to `shown`.
struct Adam {
  std::vector<float> value, mean, square;
  float step = 0;

  explicit Adam(int64_t count)
      : value(static_cast<size_t>(count), 0.1f), mean(value.size()), square(value.size()) {}

  void update(const float *gradient, float *shown) {
    step += 1;
    float rate = 1e-3f * std::sqrt(1 - std::pow(0.999f, step)) / (1 - std::pow(0.9f, step));
    for (size_t i = 0; i < value.size(); ++i) {
      mean[i] = 0.9f * mean[i] + 0.1f * gradient[i];
      square[i] = 0.999f * square[i] + 0.001f * gradient[i] * gradient[i];
      shown[i] = value[i] -= rate * mean[i] / (std::sqrt(square[i]) + 1e-8f);
    }
  }
};

void work(std::chrono::microseconds time) {
  for (Clock::time_point end = Clock::now() + time; Clock::now() < end;) {
  }
}

float sumOf(const float *values, int64_t count) {
  float sums[16] = {};
  for (int64_t i = 0; i + 16 <= count; i += 16)
    for (int64_t lane = 0; lane < 16; ++lane)
      sums[lane] += values[i + lane];
  return sums[0] + sums[7];
}

/// One round as the trainer, which measures, or as the server. A round ends at the trainer.
class Measure {
public:
  Measure(std::string name, Way &way) : name_(std::move(name)), way_(way) {
    if (name_ == "bulk")
      bulk_.assign(kBulkBytes / 4, 1.0f);
  }

  void trainerRound() {
    if (name_ == "echo") {
      way_.send(0, one_);
      sink_ = *way_.receive(2, 1);
    } else if (name_ == "bulk") {
      way_.send(1, bulk_);
      sink_ = *way_.receive(2, 1);
    } else {
      using namespace std::chrono_literals;
      work(250us);
      std::fill_n(way_.reserve(0, kSmall), kSmall, 1e-3f);
      way_.commit(0);
      work(250us);
      std::fill_n(way_.reserve(1, kLarge), kLarge, 1e-3f);
      way_.commit(1);
      sink_ = sumOf(way_.receive(2, kSmall), kSmall) + sumOf(way_.receive(3, kLarge), kLarge);
    }
  }

  void serverRound() {
    if (name_ == "echo") {
      sink_ = *way_.receive(0, 1);
      way_.send(2, one_);
    } else if (name_ == "bulk") {
      sink_ = way_.receive(1, kBulkBytes / 4)[kBulkBytes / 4 - 1];
      way_.send(2, one_);
    } else {
      const float *gradient = way_.receive(0, kSmall);
      small_.update(gradient, way_.reserve(2, kSmall));
      way_.commit(2);
      gradient = way_.receive(1, kLarge);
      large_.update(gradient, way_.reserve(3, kLarge));
      way_.commit(3);
    }
  }

private:
  const std::string name_;
  Way &way_;
  std::vector<float> one_ = {1.0f}, bulk_;
  Adam small_{kSmall}, large_{kLarge};
  volatile float sink_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    die("usage: pdg-transport-bench echo|bulk|step tcp|unix|stream|memory ROUNDS");
  const std::string measure = argv[1], kind = argv[2];
  keepMessageMemory();
  int ends[2], control[2];
  connectSockets(kind == "tcp", ends);
  connectSockets(false, control);
  pid_t child = fork();
  bool isTrainer = child != 0;
  pin(isTrainer ? 0 : 1);
  std::unique_ptr<Way> way;
  if (kind == "tcp" || kind == "unix")
    way = std::make_unique<SocketWay>(ends[isTrainer ? 0 : 1]);
  else
    way = joinExchange(measure, kind == "memory", isTrainer, control[isTrainer ? 0 : 1]);
  Measure rounds(measure, *way);
  int count = std::max(std::atoi(argv[3]), 1), warm = count / 10 + 2;
  std::vector<double> times;
  for (int i = 0; i < count + warm; ++i) {
    Clock::time_point start = Clock::now();
    isTrainer ? rounds.trainerRound() : rounds.serverRound();
    if (i >= warm)
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  way.reset();
  if (!isTrainer)
    return 0;
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    die("the other process failed");
  std::sort(times.begin(), times.end());
  std::printf("%.3f %.3f\n", times[times.size() / 2], times[times.size() * 99 / 100]);
  return 0;
}

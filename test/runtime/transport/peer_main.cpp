// One process of a small cluster, for tests that kill processes: it prints its port, reads the
// addresses of all, and exchanges tensors until the run ends.
//   pdg-transport-peer ROLE INDEX TRAINERS SERVERS memory|stream
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/process_exchange.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace pdg;

namespace {

constexpr int64_t kCount = 1000;

Topology topologyOf(int64_t trainers, int64_t servers) {
  EdgeInfo gradient, parameter;
  gradient.name = "gradient of W";
  gradient.shape = {kCount};
  gradient.place = "model.pdg:12:5";
  parameter = gradient;
  parameter.name = "W";
  std::swap(parameter.fromKind, parameter.toKind);
  return {trainers, servers, {gradient, parameter}};
}

/// Sends and receives like a step of a job: trainers first send, servers first receive.
absl::Status runStep(Exchange &end) {
  const std::string bytes(kCount * sizeof(float), 'x');
  const int64_t sizes[] = {kCount};
  bool isTrainer = end.self().kind == PeerKind::Trainer;
  for (bool sends : {isTrainer, !isTrainer})
    for (Peer peer : allPeers(end.topology())) {
      if (peer.kind == end.self().kind)
        continue;
      absl::Status status = sends ? end.send(isTrainer ? 0 : 1, peer, {bytes.data(), sizes})
                                  : end.receive(isTrainer ? 1 : 0, peer).status();
      if (!status.ok())
        return status;
    }
  return absl::OkStatus();
}

void say(const std::string &line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  keepMessageMemory();
  ProcessOptions options;
  options.topology = topologyOf(std::atoll(argv[3]), std::atoll(argv[4]));
  options.self = {std::string(argv[1]) == "trainer" ? PeerKind::Trainer : PeerKind::Server,
                  std::atoll(argv[2])};
  options.sharesMemory = std::string(argv[5]) == "memory";
  std::vector<Peer> peers = allPeers(options.topology);
  auto made = ProcessExchange::listen(std::move(options));
  if (!made.ok())
    return 1;
  say(std::to_string((*made)->port()));
  std::map<Peer, std::string> addresses;
  for (Peer peer : peers)
    std::getline(std::cin, addresses[peer]);
  absl::Status status = (*made)->connect(addresses);
  for (int64_t step = 0; status.ok(); ++step) {
    status = runStep(**made);
    if (status.ok() && step == 100)
      say("running");
  }
  say(std::string(status.message()));
  return 3;
}

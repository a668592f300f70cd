// Random scripts, and runs of them in one process and on a cluster of threads. A script is a pure
// function of its seed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pdg {

/// A script that trains a network: blocks, shared weights, conditions and loops, reductions along
/// and across the batch, one or two optimizers. It reads `x` and `label` of the archive `data`.
std::string makeClusterScript(uint64_t seed, const std::string &data);

/// Writes the archive that the scripts read: 70 examples, so that the last batch is a small one.
void writeClusterData(const std::string &path);

/// What a run gave.
struct ClusterOutcome {
  std::string error; ///< Empty if it went well.
  std::vector<std::string> lines = {};
  /// Names and elements of fetched values and of variables, as bytes. NaNs are equal.
  std::vector<std::pair<std::string, std::string>> values = {};

  bool operator==(const ClusterOutcome &) const = default;
  /// The first difference, for people.
  std::string differenceTo(const ClusterOutcome &other) const;
};

/// How a script is run.
struct ClusterCase {
  std::string file;
  int64_t trainers = 1, servers = 0; ///< Without servers: in one process, in `trainers` slices.
  bool isNative = false;
  uint64_t seed = 0; ///< Of the run, and of the order in which interpreted processes go on.
};

ClusterOutcome runClusterCase(const ClusterCase &c);

} // namespace pdg

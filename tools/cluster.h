// A cluster as the compiler and the launcher see it: how many processes of which kind, where, and
// with what between them. Read from the command line or from a TOML file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/diagnostics.h"
#include "ir/dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "tools/driver.h"

namespace pdg {

/// How trainers and servers keep step (docs/distribution.md).
struct ClusterModeSpec {
  ClusterMode mode = ClusterMode::Sync;
  int64_t bound = 0; ///< K of bounded:K and local:K.

  /// "sync", "bounded:4".
  std::string str() const;
  bool hasServers() const { return mode != ClusterMode::AllReduce; }
  /// True if gradients of all trainers are joined before anybody goes on: then the bits do not
  /// depend on the cluster.
  bool isSynchronous() const { return mode == ClusterMode::Sync || mode == ClusterMode::AllReduce; }
};

/// Reads the form that str() writes; nothing if `text` is none.
std::optional<ClusterModeSpec> parseClusterMode(std::string_view text);

/// The forms of a mode, for messages.
inline constexpr std::string_view clusterModeForms =
    "sync, async, bounded:K, local:K or all-reduce";

/// All processes of one kind.
struct ClusterRole {
  int64_t count = 0;                ///< How many processes.
  std::vector<std::string> hosts;   ///< One for each process; empty: all on this machine.
  std::vector<std::string> devices; ///< Of every host; empty: its processor.
  int64_t memory = 0;               ///< Bytes that a process may use; 0: not said.
  Span memoryPlace;                 ///< Where `memory` was said.
  Span place;                       ///< Where the role was described.
};

/// What lies between the processes, for predictions.
struct ClusterNetwork {
  double bandwidth = 10e9 / 8; ///< Bytes a second, of each process in each direction.
  double latency = 50e-6;      ///< Seconds from a send to its receive.
  std::string wire = "f32";    ///< How floats travel.
};

/// A cluster that can exist.
struct Cluster {
  ClusterModeSpec mode;
  ClusterRole trainers, servers;
  ClusterNetwork network;
  int64_t restart = 0;          ///< How often a lost process is started again.
  std::string launch = "local"; ///< How processes are started: local, ssh.
  std::string tls;              ///< The folder of certificates, or empty.
  /// What the file says that is planned for, and that `pdc run` does not do: places and words.
  std::vector<std::pair<Span, std::string>> plannedOnly;

  /// How many devices a trainer has.
  int64_t devices() const {
    return std::max<int64_t>(1, static_cast<int64_t>(trainers.devices.size()));
  }
};

/// The attribute `pdg.cluster` that tells the passes of this cluster.
ClusterAttr attributeOf(const Cluster &cluster, mlir::MLIRContext *context);

/// Reads a cluster file, with the text `file` of `sources`. Reports what is wrong with it to
/// `diagnostics`, all of it; nothing if there were errors.
std::optional<Cluster> readClusterFile(FileId file, const SourceManager &sources,
                                       DiagnosticEngine &diagnostics);

/// Makes the cluster that the options describe. Trainers without a number of servers have one, if
/// their mode needs one.
std::optional<Cluster> makeCluster(const ClusterOptions &options, SourceManager &sources,
                                   DiagnosticEngine &diagnostics);

/// Reads "16GiB" as bytes, "10Gbit/s" as bytes a second, "50us" as seconds. Says what is expected
/// instead, in `wrong`, and gives nothing if it is something else.
std::optional<int64_t> parseMemory(std::string_view text, std::string &wrong);
std::optional<double> parseBandwidth(std::string_view text, std::string &wrong);
std::optional<double> parseDuration(std::string_view text, std::string &wrong);

/// Reports what a cluster file says that cannot be run yet: nothing of it is silently left out.
/// Returns whether there is nothing.
bool checkRunnable(const ClusterOptions &options, SourceManager &sources,
                   DiagnosticEngine &diagnostics);

/// Reports roles of `module` that need more memory than the cluster gives them, at the line of the
/// cluster file that says how much. Returns whether all fit.
bool checkClusterMemory(mlir::ModuleOp module, const Cluster &cluster,
                        DiagnosticEngine &diagnostics);

/// Writes a number of bytes for people: "1.5 MiB".
std::string bytesText(double bytes);

} // namespace pdg

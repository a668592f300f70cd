// What the commands of `pdc` do, apart from reading the command line: compile, run, report.
// The command line (cli*.cpp) fills these structs; driver*.cpp carries them out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdg {

/// Exit codes of `pdc`, the same for every command.
enum ExitCode : int {
  ExitDone = 0,
  ExitWrongInput = 1,  ///< The program or its input is wrong.
  ExitWrongUsage = 2,  ///< The command line is wrong.
  ExitWorldFailed = 3, ///< A file, a disk, a peer.
  ExitInterrupted = 130,
};

/// How diagnostics are written to standard error (`--format`).
enum class ReportFormat { Text, Json };

/// What every command that compiles a script needs to know.
struct ProgramArguments {
  std::string file; ///< The script; "-" is standard input.
  /// `--set NAME=VALUE`, in order, names unique. Values are still text: their type is the const's.
  std::vector<std::pair<std::string, std::string>> sets;
  std::string dataDir; ///< `--data-dir`, or empty.
  ReportFormat format = ReportFormat::Text;
};

/// One `--feed`: the input `name` is read from a file.
struct FeedArgument {
  std::string name;  ///< Empty: every input that the archive has an array for, by its own name.
  std::string file;  ///< A .npy file, or an .npz archive.
  std::string array; ///< The array of the archive; empty for a .npy file.
};

/// The cluster that a program is compiled for.
struct ClusterOptions {
  int64_t trainers = 1;      ///< `--trainers`.
  int64_t servers = 0;       ///< `--servers`; 0 with one trainer: a plain run, no cluster.
  std::string mode = "sync"; ///< `--mode`: one of "sync", "async", "bounded:K", "local:K",
                             ///< "all-reduce".
  std::string file;          ///< `--cluster FILE.toml`, or empty. Then nothing else is given.

  bool isCluster() const { return trainers > 1 || servers > 0 || !file.empty(); }
};

/// Options of `pdc run`.
struct RunArguments {
  ProgramArguments program;
  std::vector<FeedArgument> feeds;
  std::string fetchFile;         ///< `--fetch OUT.npz`, or empty: values go to standard output.
  std::optional<uint64_t> seed;  ///< `--seed`.
  int64_t threads = 0;           ///< `--threads`; 0: one per core.
  bool interpret = false;        ///< `--interpret`.
  std::string loadFile;          ///< `--load`, or empty.
  std::vector<std::string> only; ///< `--only`: scope paths to load; empty: all.
  std::string saveFile;          ///< `--save`, or empty.
  bool quiet = false;            ///< `--quiet`: no progress bar, no notes.
  bool checkNan = false;         ///< `--check-nan`.
  std::string isa;               ///< `--isa`: "avx2", "avx512", or empty for the machine's best.
  int64_t replicas = 1;          ///< `--replicas`: slices of a batch.
  ClusterOptions cluster;        ///< `--trainers`, `--servers`, `--mode`.
  bool isInProcess = false;      ///< `--in-process`: the processes of a cluster are threads.
  bool isVerbose = false;        ///< `--verbose`: how the processes of a cluster are connected.
};

/// Options of `pdc check`.
struct CheckArguments {
  ProgramArguments program;
  ClusterOptions cluster; ///< As in RunArguments.
};

/// Options of `pdc build`.
struct BuildArguments {
  ProgramArguments program;
  ClusterOptions cluster; ///< As in RunArguments.
  int64_t replicas = 1;   ///< As in RunArguments.
  std::string output;     ///< `-o`: the folder.
};

/// Options of `pdc emit`. At least one of `stage` and `dumpStages` is given.
struct EmitArguments {
  ProgramArguments program;
  ClusterOptions cluster;
  std::string stage;      ///< One of `emitStages`, `role:` with the name of a role, or empty.
  std::string output;     ///< `-o`, or empty: standard output.
  std::string dumpStages; ///< `--dump-stages DIR`, or empty.
  std::string isa;        ///< As in RunArguments.
  int64_t replicas = 1;   ///< As in RunArguments.
};

/// Options of `pdc plan`.
struct PlanArguments {
  ProgramArguments program;
  ClusterOptions cluster;
  std::string explain;      ///< `--explain NAME`: why this variable is where it is, or empty.
  std::string diff;         ///< `--diff OTHER.toml`: what that cluster would change, or empty.
  bool isSimulated = false; ///< `--simulate`: how long a step takes.
  double slowest = 1;       ///< `--slowest`: how much longer the slowest trainer computes.
};

/// Options of `pdc graph`.
struct GraphArguments {
  ProgramArguments program;
  ClusterOptions cluster;
  int64_t replicas = 1; ///< As in RunArguments.
  std::string stage;    ///< One of `graphStages`.
  std::string output;   ///< `-o`: a file named *.dot, *.svg or *.html.
};

/// Options of `pdc fmt`.
struct FormatArguments {
  std::vector<std::string> files; ///< Files and folders; "-" and nothing at all: standard input.
  bool isCheck = false;           ///< `--check`: only says which files would change.
};

/// The stages that `pdc emit --stage` prints, in the order of compilation.
inline constexpr std::array<std::string_view, 8> emitStages = {
    "ast", "graph", "grad", "split", "distributed", "loops", "llvm", "asm"};
/// What comes before the name of a role in a stage of `pdc emit`: `role:server_0`.
inline constexpr std::string_view roleStage = "role:";

/// The stages that `pdc graph --stage` draws.
inline constexpr std::array<std::string_view, 4> graphStages = {"graph", "grad", "split",
                                                                "distributed"};

/// Compiles and runs a script. Returns an exit code.
int runCommand(const RunArguments &options);

/// Compiles a script and writes the modules of its roles and a manifest. Returns an exit code.
int buildCommand(const BuildArguments &options);

/// Reports every error and warning of a script and runs nothing. Returns an exit code.
int checkCommand(const CheckArguments &options);

/// Reports every error and warning of a script on a cluster. Returns an exit code.
int checkDistributed(const CheckArguments &options);

/// Prints what a cluster would hold and send, and runs nothing. Returns an exit code.
int planCommand(const PlanArguments &options);

/// Draws a stage of the compilation of a script. Returns an exit code.
int graphCommand(const GraphArguments &options);

/// Lays out scripts in the canonical way. Returns an exit code.
int formatCommand(const FormatArguments &options);

/// Prints stages of the compilation of a script. Returns an exit code.
int emitCommand(const EmitArguments &options);

} // namespace pdg

// `pdc run` on a cluster: compiles the program of each role once, and runs all processes, here as
// threads. SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/variables.h"
#include "tools/driver_report.h"
#include "tools/driver_run.h"
#include "tools/interrupt.h"
#include "tools/run_cluster.h"

#include <cstdio>

namespace pdg {

namespace {

/// Runs all processes until they end, or the first of them stops. Returns an exit code.
int execute(LocalCluster &cluster, const ClusterExecutable &program,
            const RunArguments &arguments) {
  clearInterrupt(/*patience=*/2);
  ExecutionContext &first = *cluster.processes()[0].context;
  setInterruptAction([](void *run) { static_cast<LocalCluster *>(run)->interrupt(); }, &cluster);
  ExecutionContext *stopped =
      cluster.run([&] { return loadInto(cluster.owners(), arguments).status(); });
  setInterruptAction(nullptr, nullptr);
  int exitCode = stopped ? reportRunError(stopped->error(), arguments.program.format) : ExitDone;
  if (stopped && (exitCode != ExitInterrupted || !first.isInitialized()))
    return exitCode;
  absl::StatusOr<WholeVariables> whole = WholeVariables::create(cluster.owners());
  if (!whole.ok())
    return reportStatus(whole.status(), arguments.program.format);
  std::vector<TensorRef> variables = orderedVariables(*whole, program);
  if (stopped) {
    saveInterrupted(variables, arguments);
    return exitCode;
  }
  absl::Status status = handOver(first.fetchedValues(), variables, arguments);
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

} // namespace

absl::StatusOr<LoadReport> loadInto(std::span<ExecutionContext *const> owners,
                                    const RunArguments &arguments) {
  LoadReport report;
  if (arguments.loadFile.empty())
    return report;
  absl::StatusOr<WholeVariables> variables = WholeVariables::create(owners);
  if (!variables.ok())
    return variables.status();
  absl::Status status =
      loadVariables(arguments.loadFile, variables->refs(), arguments.only, &report);
  if (!status.ok())
    return status;
  variables->scatter();
  if (!arguments.quiet)
    std::fputs(describe(report, arguments.loadFile).c_str(), stderr);
  return report;
}

int runClusterCommand(const RunArguments &arguments) {
  ReportFormat format = arguments.program.format;
  absl::StatusOr<Feeds> feeds = readFeeds(arguments.feeds);
  if (!feeds.ok())
    return reportStatus(feeds.status(), format);
  Compilation compilation(arguments.program);
  std::optional<ClusterExecutable> program;
  if (compilation.load()) {
    announceFeeds(*feeds, compilation);
    if (compilation.elaborate() && compilation.simplify())
      program = makeClusterExecutable(compilation, arguments);
  }
  if (int exitCode = compilation.report(); !program)
    return exitCode;
  absl::Status status = checkScopes(arguments, program->variables);
  if (status.ok())
    status = checkOutputs(arguments);
  if (!status.ok())
    return reportStatus(status, format);
  RunOptions options = runOptionsOf(arguments, compilation.paths());
  options.loadFile.clear(); // Loaded for all processes together.
  if (!program->roles[0].prepare)
    return runJobCommand(*program, arguments, *std::move(feeds), options);
  if (program->sessions > 1 && !arguments.isInProcess && !arguments.interpret && !arguments.quiet)
    std::fputs("note: asynchronous trainers and their servers run as threads of this process\n",
               stderr);
  auto cluster = makeLocalCluster(*program, arguments, options);
  if (!cluster.ok())
    return reportStatus(cluster.status(), format);
  std::vector<ExecutionContext *> contexts;
  for (LocalProcess &process : (*cluster)->processes())
    contexts.push_back(process.context.get());
  if (status = feedInputs(contexts, *std::move(feeds)); !status.ok())
    return reportStatus(status, format);
  return execute(**cluster, *program, arguments);
}

} // namespace pdg

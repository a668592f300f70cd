// `pdc plan`: compiles for a cluster and shows what it would hold and send.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/names.h"
#include "tools/driver_compile.h"
#include "tools/driver_report.h"
#include "tools/plan.h"

#include <cstdio>

namespace pdg {

/// Compiles the script for the cluster of `options`. Returns the plan; nothing after an error,
/// which the compilation then holds.
static std::optional<Plan> planFor(Compilation &compilation, const ClusterOptions &options) {
  std::optional<Cluster> cluster =
      makeCluster(options, compilation.sources(), compilation.diagnostics());
  if (!cluster || !compilation.load() || !compilation.elaborate() || !compilation.simplify() ||
      !compilation.cut(options, 1))
    return std::nullopt;
  return makePlan(compilation.module(), *cluster);
}

static int printText(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? ExitDone : ExitWorldFailed;
}

int planCommand(const PlanArguments &arguments) {
  Compilation compilation(arguments.program);
  std::optional<Plan> plan = planFor(compilation, arguments.cluster);
  if (int exitCode = compilation.report(); exitCode != 0 || !plan)
    return exitCode;
  if (!arguments.explain.empty()) {
    std::string text = explainVariable(*plan, arguments.explain);
    if (!text.empty())
      return printText(text);
    std::vector<std::string> names;
    for (const PlannedVariable &variable : plan->variables)
      names.push_back(variable.name);
    std::string near = findNearest(arguments.explain, names);
    return reportStatus(
        absl::InvalidArgumentError("the program has no variable '" + arguments.explain + "'" +
                                   (near.empty() ? "" : "; did you mean '" + near + "'?")),
        arguments.program.format);
  }
  if (!arguments.diff.empty()) {
    Compilation other(arguments.program);
    ClusterOptions options;
    options.file = arguments.diff;
    std::optional<Plan> after = planFor(other, options);
    if (int exitCode = other.report(); exitCode != 0 || !after)
      return exitCode;
    return printText(planDifference(*plan, *after));
  }
  std::optional<Simulation> simulation;
  if (arguments.isSimulated)
    simulation = simulate(compilation.module(), plan->cluster, arguments.slowest);
  if (arguments.program.format == ReportFormat::Json)
    return printText(planJson(*plan, simulation ? &*simulation : nullptr));
  return printText(planText(*plan) +
                   (simulation ? simulationText(*simulation, plan->cluster) : ""));
}

int checkDistributed(const CheckArguments &arguments) {
  Compilation compilation(arguments.program);
  (void)planFor(compilation, arguments.cluster);
  return compilation.report();
}

} // namespace pdg

// The options of `pdc build`, `pdc check` and `pdc emit`, which compile and do not run.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include <memory>

namespace pdg {

void addBuildCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<BuildArguments>();
  CLI::App *command =
      app.add_subcommand("build", "Writes modules that `pdworker` runs without a compiler");
  command->footer("\nThe folder holds trainer.pdm, server_0.pdm and so on, with code for avx2 and "
                  "avx512, and\nmanifest.json, which lists them. Without a cluster there is one "
                  "trainer.");
  addProgramOptions(*command, options->program);
  command->add_option("-o,--output", options->output, "The folder; made if it is not there")
      ->type_name("DIR")
      ->required();
  addReplicasOption(*command, options->replicas);
  addClusterOptions(*command, options->cluster);
  command->callback([options, &exitCode] { exitCode = buildCommand(*options); });
}

void addCheckCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<CheckArguments>();
  CLI::App *command =
      app.add_subcommand("check", "Reports every error and warning of a script, runs nothing");
  addProgramOptions(*command, options->program);
  addClusterOptions(*command, options->cluster);
  command->callback([options, &exitCode] { exitCode = checkCommand(*options); });
}

/// The stages as the help shows them: "ast|graph|...".
static std::string stageNames() {
  std::string names;
  for (std::string_view stage : emitStages)
    names += (names.empty() ? "" : "|") + std::string(stage);
  return names;
}

/// Whether a stage is that of one role of a cluster.
static bool isOfRole(const std::string &stage) { return stage.starts_with(roleStage); }

void addEmitCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<EmitArguments>();
  CLI::App *command = app.add_subcommand("emit", "Prints a stage of the compilation");
  command->footer("\nStages, in order: ast the parsed script, graph the pdg dialect, grad with\n"
                  "derivatives, split with slices of batches (--replicas), distributed the "
                  "programs of a cluster\n"
                  "(--trainers, --servers), role:trainer or role:server_0 one of them, loops what "
                  "native code is\n"
                  "made of, llvm LLVM IR, asm machine code.");
  addProgramOptions(*command, options->program);
  command->add_option("--stage", options->stage, "The stage to print")
      ->type_name(stageNames())
      ->check(
          [isStage = CLI::IsMember(std::vector<std::string>(emitStages.begin(), emitStages.end()))](
              std::string stage) { return isOfRole(stage) ? std::string() : isStage(stage); });
  command->add_option("-o,--output", options->output, "Writes to a file instead")
      ->type_name("FILE");
  command->add_option("--dump-stages", options->dumpStages, "Writes one file per stage to a folder")
      ->type_name("DIR");
  addIsaOption(*command, options->isa);
  addReplicasOption(*command, options->replicas);
  addClusterOptions(*command, options->cluster);
  command->callback([options, &exitCode] {
    if (options->stage == "distributed" || isOfRole(options->stage))
      needCluster(options->program, options->cluster);
    if (options->stage.empty() && options->dumpStages.empty())
      throw CLI::ValidationError("--stage", "expects one of " + stageNames() +
                                                ", found none (--dump-stages=DIR writes all)");
    exitCode = emitCommand(*options);
  });
}

} // namespace pdg

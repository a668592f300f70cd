// The options of a cluster, and of the commands that show what one would do: plan, graph.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"
#include "tools/cluster.h"

#include <absl/strings/numbers.h>

#include <memory>

namespace pdg {

void addClusterOptions(CLI::App &command, ClusterOptions &options) {
  auto addCount = [&](const char *name, int64_t &count, const char *help) {
    return command
        .add_option_function<std::string>(
            name,
            [&count, name](const std::string &text) {
              bool isNumber = absl::SimpleAtoi(text, &count);
              if (!isNumber || count < 1 || count > 65536)
                throw CLI::ValidationError(name,
                                           "expects a number of 1 to 65536, got '" + text + "'");
            },
            help)
        ->type_name("N");
  };
  CLI::Option *file =
      command.add_option("--cluster", options.file, "A TOML file that describes the cluster")
          ->type_name("FILE.toml");
  addCount("--trainers", options.trainers, "How many trainers share each batch")->excludes(file);
  addCount("--servers", options.servers, "How many servers keep the variables")->excludes(file);
  command
      .add_option_function<std::string>(
          "--mode",
          [&options](const std::string &text) {
            if (!parseClusterMode(text))
              throw CLI::ValidationError("--mode", "expects " + std::string(clusterModeForms) +
                                                       " with a number K of 1 or more, got '" +
                                                       text + "'");
            options.mode = text;
          },
          "How trainers keep step (default sync)")
      ->type_name("MODE")
      ->excludes(file);
}

void needCluster(const ProgramArguments &program, const ClusterOptions &options) {
  if (!options.isCluster() && !program.file.ends_with(".mlir"))
    throw CLI::ValidationError(
        "expects a cluster: --trainers and --servers, or --cluster FILE.toml");
}

void addPlanCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<PlanArguments>();
  CLI::App *command =
      app.add_subcommand("plan", "Shows what a cluster would hold and send; runs nothing");
  command->footer("\nExamples:\n"
                  "  pdc plan model.pdg --trainers 4 --servers 2\n"
                  "  pdc plan model.pdg --cluster cluster.toml --explain net.hidden.W\n"
                  "  pdc plan model.pdg --cluster cluster.toml --diff larger.toml\n"
                  "  pdc plan model.pdg --trainers 10000 --servers 16 --simulate");
  addProgramOptions(*command, options->program);
  addClusterOptions(*command, options->cluster);
  CLI::Option *explain = command
                             ->add_option("--explain", options->explain,
                                          "Why this variable is where it is, who reads "
                                          "it, what moving it would cost")
                             ->type_name("NAME");
  CLI::Option *diff =
      command->add_option("--diff", options->diff, "What another cluster would change")
          ->type_name("OTHER.toml")
          ->excludes(explain);
  CLI::Option *simulate =
      command
          ->add_flag(
              "--simulate", options->isSimulated,
              "Replays a step on the cluster's network: how long it takes, and where it goes")
          ->excludes(explain)
          ->excludes(diff);
  command
      ->add_option("--slowest", options->slowest,
                   "How many times as long as the others the slowest trainer computes (default 1)")
      ->type_name("F")
      ->check(CLI::Range(1.0, 1e6).description(""))
      ->needs(simulate);
  command->callback([options, &exitCode] {
    needCluster(options->program, options->cluster);
    exitCode = planCommand(*options);
  });
}

void addGraphCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<GraphArguments>();
  CLI::App *command = app.add_subcommand("graph", "Draws a stage of the compilation");
  addProgramOptions(*command, options->program);
  addReplicasOption(*command, options->replicas);
  addClusterOptions(*command, options->cluster);
  std::string names;
  for (std::string_view stage : graphStages)
    names += (names.empty() ? "" : "|") + std::string(stage);
  options->stage = graphStages[0];
  command->add_option("--stage", options->stage, "The stage to draw (default graph)")
      ->type_name(names)
      ->check(CLI::IsMember(std::vector<std::string>(graphStages.begin(), graphStages.end()))
                  .description(""));
  command->add_option("-o,--output", options->output, "Where the drawing goes")
      ->type_name("FILE.svg|.dot|.html")
      ->required()
      ->check([](const std::string &name) -> std::string {
        for (std::string ending : {".svg", ".dot", ".html"})
          if (name.size() > ending.size() && name.ends_with(ending))
            return "";
        return "expects FILE.svg, FILE.dot or FILE.html, got '" + name + "'";
      });
  command->callback([options, &exitCode] {
    if (options->stage == "distributed")
      needCluster(options->program, options->cluster);
    exitCode = graphCommand(*options);
  });
}

} // namespace pdg

// The options of `pdc repl`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"
#include "tools/repl/repl.h"

#include <memory>

namespace pdg {

void addReplCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<RunArguments>();
  CLI::App *command = app.add_subcommand("repl", "Runs what you type, entry by entry");
  command->footer("\nIn a session :help lists the commands. From a pipe (pdc repl < entries.pdg) "
                  "there are no\nprompts, and the exit code is 1 if an entry failed.");
  command->add_option("FILE", options->program.file, "A script to load first");
  command
      ->add_option("--data-dir", options->program.dataDir, "Where data files are looked up as well")
      ->type_name("DIR");
  command->add_flag("--quiet", options->quiet, "No progress bar");
  addExecutionOptions(*command, *options);
  command->callback([options, &exitCode] { exitCode = replCommand(*options); });
}

} // namespace pdg

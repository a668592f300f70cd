// The options of `pdc fmt`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include <memory>

namespace pdg {

void addFormatCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<FormatArguments>();
  CLI::App *command = app.add_subcommand("fmt", "Lays out scripts in the canonical way");
  command
      ->add_option("FILES", options->files,
                   "Scripts, and folders whose scripts are meant; - or nothing reads standard "
                   "input and writes standard output")
      ->type_name("")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--check", options->isCheck,
                    "Writes nothing; names the files that are laid out in another way and exits 1");
  command->footer("\nComments stay where they are, lines get at most 100 columns where that is "
                  "possible.\nIn a bracket that is broken into lines, the line breaks between "
                  "elements are kept;\na comma before the closing bracket's own line keeps it "
                  "broken.\n\nExamples:\n"
                  "  pdc fmt model.pdg                 rewrite a file\n"
                  "  pdc fmt --check examples          is everything laid out?\n"
                  "  pdc fmt - < model.pdg             as a filter");
  command->callback([options, &exitCode] { exitCode = formatCommand(*options); });
}

} // namespace pdg

// The options of `pdc doc`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"
#include "tools/manual.h"

#include <memory>

namespace pdg {

void addDocCommand(CLI::App &app, int &exitCode) {
  struct Options {
    std::string name;
    std::string html;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("doc", "Prints the manual of the library");
  CLI::Option *name =
      command
          ->add_option("NAME", options->name,
                       "A module, a block or a built-in function; without one, all names")
          ->type_name("nn.dense");
  command->add_option("--html", options->html, "Writes the whole manual as HTML pages instead")
      ->type_name("DIR")
      ->excludes(name);
  command->callback([options, &exitCode] {
    exitCode = options->html.empty() ? docCommand(options->name) : docHtmlCommand(options->html);
  });
}

} // namespace pdg

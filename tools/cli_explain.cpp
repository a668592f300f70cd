// The options of `pdc explain`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"
#include "tools/explain.h"

#include <memory>

namespace pdg {

void addExplainCommand(CLI::App &app, int &exitCode) {
  auto code = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("explain", "Prints the page of an error code; without one, all codes");
  command->add_option("CODE", *code, "The code, as the message shows it")->type_name("PD0001");
  command->callback([code, &exitCode] { exitCode = explainCommand(errorPagesFolder(), *code); });
}

} // namespace pdg

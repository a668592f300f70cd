// pdworker: one process of a cluster. Knows no compiler: it runs a module that one made.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/worker.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  CLI::App app(
      "Runs one process of a job. `pdc run --trainers T --servers S` starts such processes.",
      "pdworker");
  app.set_version_flag("--version", "pdworker " PDG_VERSION);
  pdg::WorkerOptions options;
  app.add_option("--join", options.leader, "Address of the process that leads the job")
      ->required()
      ->type_name("HOST:PORT");
  app.add_option("--job", options.job, "Name of the job")->required()->type_name("NAME");
  app.add_option("--module", options.module, "The program of this process's role")
      ->required()
      ->type_name("FILE.pdm");
  app.add_option("--replica", options.replica, "Which of the trainers this is")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_option("--listen", options.host, "Address at which the other processes reach this one")
      ->capture_default_str()
      ->type_name("HOST");
  app.add_option("--key", options.key, "The job's public key: modules must be signed by it")
      ->type_name("FILE.pem");
  app.add_option("--isa", options.isa, "Run the code for this instruction set")
      ->check(CLI::IsMember({"avx2", "avx512"}));
  app.add_flag("!--no-shared-memory", options.sharesMemory,
               "Exchange tensors over the network, also on one host");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Wrong usage has exit code 2; help and version have 0.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return pdg::runWorker(options);
}

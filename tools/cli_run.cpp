// The options of `pdc run`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include <absl/strings/numbers.h>

#include <cstdint>
#include <memory>

namespace pdg {

static constexpr const char *runFooter =
    "\nExamples:\n"
    "  pdc run model.pdg --set batch=128 --seed 3\n"
    "  pdc run model.pdg --save model.safetensors --fetch values.npz\n"
    "  pdc run model.pdg --load model.safetensors --only net.hidden --only net.output\n"
    "  pdc run model.pdg --feed x=images.npy --feed y=batches.npz:labels\n"
    "Ctrl-C stops in order; a second one stops at once.";

static void addInputOptions(CLI::App &command, RunArguments &options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--feed",
          [&options](const std::vector<std::string> &texts) {
            for (const std::string &text : texts) {
              FeedArgument feed;
              if (std::string wrong = parseFeed(text, feed); !wrong.empty())
                throw CLI::ValidationError("--feed", wrong);
              options.feeds.push_back(feed);
            }
          },
          "Feeds an input: NAME=FILE.npy or NAME=FILE.npz:ARRAY; FILE.npz alone feeds every "
          "input that it has an array for")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  CLI::Option *load =
      command.add_option("--load", options.loadFile,
                         "Reads variables from a safetensors file before the first step; every "
                         "name, shape and type is checked");
  load->type_name("FILE");
  command
      .add_option("--only", options.only,
                  "Loads only this scope path (net.hidden) and what is below it; may be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false)
      ->needs(load);
}

static void addOutputOptions(CLI::App &command, RunArguments &options) {
  command
      .add_option("--fetch", options.fetchFile,
                  "Writes the eval targets to an .npz file, by their true names")
      ->type_name("OUT.npz");
  command.add_option("--save", options.saveFile, "Writes all variables to a safetensors file")
      ->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "No progress bar and no notes");
}

void addExecutionOptions(CLI::App &command, RunArguments &options) {
  // CLI11 reads a seed below 0 or above 2^64 - 1 as some other one.
  command
      .add_option_function<std::string>(
          "--seed",
          [&options](const std::string &text) {
            uint64_t seed = 0;
            if (!absl::SimpleAtoi(text, &seed))
              throw CLI::ValidationError(
                  "--seed",
                  "expects a whole number from 0 to 18446744073709551615, got '" + text + "'");
            options.seed = seed;
          },
          "Seed of all random numbers (default 0)")
      ->type_name("N");
  command
      .add_option("--threads", options.threads,
                  "Threads to use (default: one per core); results do not depend on it")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}).description(""));
  command.add_flag("--interpret", options.interpret,
                   "Runs in the reference interpreter: slow, the same bits");
  command.add_flag("--check-nan", options.checkNan,
                   "Stops at the first operation that makes a NaN and names its line; interprets");
  addIsaOption(command, options.isa);
}

void addRunCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<RunArguments>();
  CLI::App *command = app.add_subcommand("run", "Compiles a script and runs it");
  command->footer(runFooter);
  addProgramOptions(*command, options->program);
  addInputOptions(*command, *options);
  addOutputOptions(*command, *options);
  addExecutionOptions(*command, *options);
  command->callback([options, &exitCode] { exitCode = runCommand(*options); });
}

} // namespace pdg

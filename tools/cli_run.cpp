// The options of `pdc run`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdg {

static constexpr const char *runFooter =
    "\nExamples:\n"
    "  pdc run model.pdg --set batch=128 --seed 3\n"
    "  pdc run model.pdg --save model.safetensors --fetch values.npz\n"
    "  pdc run model.pdg --load model.safetensors --only net.hidden,net.output\n"
    "  pdc run model.pdg --feed x=images.npy --feed y=batches.npz:labels\n"
    "Ctrl-C stops in order, between two iterations: with --save the variables are then saved as\n"
    "they are. A second one stops at once and leaves the file that was there.";

/// Refuses names of files that do not end as one of `endings` does, or have nothing before it.
static std::function<std::string(const std::string &)> endsWith(std::vector<std::string> endings,
                                                                const std::string &form) {
  return [endings, form](const std::string &name) -> std::string {
    for (const std::string &ending : endings)
      if (name.size() > ending.size() && name.ends_with(ending))
        return "";
    return "expects " + form + ", got '" + name + "'";
  };
}

static std::function<std::string(const std::string &)> isTensorFile() {
  return endsWith({".safetensors", ".npz"}, "FILE.safetensors or FILE.npz");
}

/// Splits "a.b,c" into scope paths. Returns what is wrong, or an empty text.
static std::string parseOnly(const std::string &text, std::vector<std::string> &only) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string path = text.substr(begin, end - begin);
    if (path.empty() || path.front() == '.' || path.back() == '.')
      return "expects scope paths such as net.hidden,net.output, got '" + text + "'";
    only.push_back(path);
    begin = end + 1;
  }
  return "";
}

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
                         "Reads variables from a .safetensors or .npz file before the first step; "
                         "every name, shape and type is checked");
  load->type_name("FILE")->check(isTensorFile());
  command
      .add_option_function<std::vector<std::string>>(
          "--only",
          [&options](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              if (std::string wrong = parseOnly(text, options.only); !wrong.empty())
                throw CLI::ValidationError("--only", wrong);
          },
          "Loads only these scope paths (net.hidden) and what is below them, and lists what it did "
          "not load; may be repeated")
      ->type_name("PATH[,PATH]")
      ->allow_extra_args(false)
      ->needs(load);
}

static void addOutputOptions(CLI::App &command, RunArguments &options) {
  command
      .add_option("--fetch", options.fetchFile,
                  "Writes the eval targets to an .npz file, by their true names")
      ->type_name("OUT.npz")
      ->check(endsWith({".npz"}, "OUT.npz"));
  command
      .add_option("--save", options.saveFile,
                  "Writes all variables to a .safetensors or .npz file at the end, or when "
                  "interrupted")
      ->type_name("FILE")
      ->check(isTensorFile());
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
      .add_option_function<std::string>(
          "--threads",
          [&options](const std::string &text) {
            bool isNumber = absl::SimpleAtoi(text, &options.threads);
            if (!isNumber || options.threads < 1 || options.threads > 1024)
              throw CLI::ValidationError("--threads",
                                         "expects a number of 1 to 1024, got '" + text + "'");
          },
          "Threads to use (default: one per core); results do not depend on it")
      ->type_name("N");
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
  addReplicasOption(*command, options->replicas);
  addClusterOptions(*command, options->cluster);
  command->add_flag("--in-process", options->isInProcess,
                    "Run the processes of a cluster as threads of this one");
  command->add_flag("--verbose", options->isVerbose,
                    "Say how the processes of a cluster are connected");
  command->callback([options, &exitCode] {
    if (!options->saveFile.empty() && options->saveFile == options->fetchFile)
      throw CLI::ValidationError("--save", "expects another file than --fetch, got '" +
                                               options->saveFile + "' for both");
    exitCode = runCommand(*options);
  });
}

} // namespace pdg

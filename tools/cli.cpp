// The frame of the command line: help, version, wrong usage, and what several commands share.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include "frontend/names.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

namespace pdg {

static constexpr const char *programHelp =
    "pdc compiles and runs .pdg scripts.\n\n"
    "  pdc run model.pdg          train and report\n"
    "  pdc check model.pdg        every error and warning, nothing is run\n"
    "  pdc plan model.pdg ...     what a cluster would keep and send\n"
    "  pdc repl                   entry by entry, at once\n"
    "  pdc doc nn.dense           the manual of the library\n"
    "  pdc explain PD0001         the page of an error code";

static constexpr const char *programFooter =
    "\nResults go to standard output, everything else to standard error.\n"
    "Exit codes: 0 done, 1 the program or its input is wrong, 2 wrong usage, 3 a failure of the\n"
    "world (a file, a disk), 130 interrupted. NO_COLOR=1 turns colours off.\n"
    "`pdc COMMAND --help` lists the options of a command.";

static bool isName(const std::string &text) {
  auto inName = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), inName);
}

std::string parseSet(const std::string &text, std::pair<std::string, std::string> &set) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || !isName(text.substr(0, equals)) || equals + 1 == text.size())
    return "expects NAME=VALUE such as batch=128, got '" + text + "'";
  set = {text.substr(0, equals), text.substr(equals + 1)};
  return "";
}

std::string parseFeed(const std::string &text, FeedArgument &feed) {
  static constexpr const char *expected =
      "expects NAME=FILE.npy, NAME=FILE.npz:ARRAY or FILE.npz, got '";
  feed = {};
  size_t equals = text.find('=');
  std::string rest = text;
  if (equals != std::string::npos && isName(text.substr(0, equals))) {
    feed.name = text.substr(0, equals);
    rest = text.substr(equals + 1);
  }
  if (size_t array = rest.rfind(".npz:"); array != std::string::npos && !feed.name.empty()) {
    feed.array = rest.substr(array + 5);
    feed.file = rest.substr(0, array + 4);
    return feed.array.empty() || feed.file == ".npz" ? expected + text + "'" : "";
  }
  feed.file = rest;
  bool fits = rest.ends_with(feed.name.empty() ? ".npz" : ".npy");
  return fits && rest.size() > 4 ? "" : expected + text + "'";
}

void addProgramOptions(CLI::App &command, ProgramArguments &options) {
  command
      .add_option("FILE", options.file,
                  "The script, or a graph that `pdc emit` printed (.mlir); - reads a script from "
                  "standard input")
      ->required();
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&options](const std::vector<std::string> &texts) {
            for (const std::string &text : texts) {
              std::pair<std::string, std::string> set;
              if (std::string wrong = parseSet(text, set); !wrong.empty())
                throw CLI::ValidationError("--set", wrong);
              for (const auto &before : options.sets)
                if (before.first == set.first)
                  throw CLI::ValidationError("--set", "sets '" + set.first + "' twice");
              options.sets.push_back(set);
            }
          },
          "Sets a top-level const of the script; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--data-dir", options.dataDir, "Where data files are looked up as well")
      ->type_name("DIR");
  static const std::map<std::string, ReportFormat> formats = {{"text", ReportFormat::Text},
                                                              {"json", ReportFormat::Json}};
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string &name) { options.format = formats.at(name); },
          "How errors are written: text, or json with one object per line")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}).description(""));
}

void addIsaOption(CLI::App &command, std::string &isa) {
  command.add_option("--isa", isa, "Instructions to generate; without it the machine's best")
      ->type_name("avx2|avx512")
      ->check(CLI::IsMember({"avx2", "avx512"}).description(""));
}

void addReplicasOption(CLI::App &command, int64_t &replicas) {
  command
      .add_option_function<std::string>(
          "--replicas",
          [&replicas](const std::string &text) {
            bool isNumber = absl::SimpleAtoi(text, &replicas);
            if (!isNumber || replicas < 1 || replicas > 1024)
              throw CLI::ValidationError("--replicas",
                                         "expects a number of 1 to 1024, got '" + text + "'");
          },
          "Slices of each batch, as many trainers would compute them (default 1)")
      ->type_name("N");
}

/// Makes the parser's complaint one line with a hint. Returns the exit code.
static int reportWrongUsage(const CLI::App &app, const CLI::ParseError &error, int argc,
                            const char *const *argv) {
  const auto typed = app.get_subcommands();
  std::string command = typed.empty() ? "pdc" : "pdc " + typed.front()->get_name();
  if (typed.empty() && argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const CLI::App *known : app.get_subcommands({}))
      names.push_back(known->get_name());
    std::string typedName = argv[1], near = findNearest(typedName, names);
    if (typedName.ends_with(".pdg"))
      near = "pdc run " + typedName;
    std::fprintf(stderr, "pdc: unknown command '%s'%s\n", argv[1],
                 near.empty() ? "" : ("; did you mean '" + near + "'?").c_str());
  } else {
    std::fprintf(stderr, "%s: %s\n", command.c_str(), error.what());
  }
  std::fprintf(stderr, "`%s --help` shows how it is used\n", command.c_str());
  return ExitWrongUsage;
}

int runCommandLine(int argc, const char *const *argv) {
  CLI::App app{programHelp, "pdc"};
  app.footer(programFooter);
  app.set_version_flag("--version", "pdc " PDG_VERSION " (LLVM and MLIR " PDG_LLVM_VERSION ")");
  app.set_help_flag("-h,--help", "Prints this text");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);

  int exitCode = ExitDone;
  addRunCommand(app, exitCode);
  addBuildCommand(app, exitCode);
  addCheckCommand(app, exitCode);
  addEmitCommand(app, exitCode);
  addPlanCommand(app, exitCode);
  addGraphCommand(app, exitCode);
  addFormatCommand(app, exitCode);
  addReplCommand(app, exitCode);
  addDocCommand(app, exitCode);
  addExplainCommand(app, exitCode);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return ExitWrongUsage;
  }
  // CLI11 reports by exceptions; none leaves this function.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    return reportWrongUsage(app, error, argc, argv);
  }
  return exitCode;
}

} // namespace pdg

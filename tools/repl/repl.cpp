// The loop of `pdc repl`, and its commands.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/repl.h"

#include "frontend/names.h"
#include "tools/driver_report.h"
#include "tools/interrupt.h"
#include "tools/manual.h"
#include "tools/repl/entry_reader.h"
#include "tools/repl/session.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <unistd.h>

namespace pdg {
namespace {

class Repl {
public:
  explicit Repl(const RunArguments &arguments)
      : session_(arguments), file_(arguments.program.file) {}

  int run();

private:
  /// A command: what it is called, what it takes, what it does. False from it: something failed.
  struct Command {
    const char *name;
    const char *argument; ///< Empty: none.
    const char *help;
    bool (Repl::*run)(const std::string &argument);
  };
  static const std::vector<Command> &commands();

  bool handle(const std::string &entry);
  bool runCommand(const std::string &line);
  bool finish(Session::Outcome outcome);
  bool finish(const absl::Status &status);
  bool complain(const std::string &text);

  bool help(const std::string &);
  bool quit(const std::string &);
  bool listVariables(const std::string &);
  bool showType(const std::string &text);
  bool showManual(const std::string &name);
  bool load(const std::string &file);
  bool save(const std::string &file);
  bool reset(const std::string &);

  std::vector<std::string> complete(const std::string &word) const;

  Session session_;
  std::string file_;
  bool isDone_ = false;
  bool wasInterrupted_ = false;
};

const std::vector<Repl::Command> &Repl::commands() {
  static const std::vector<Command> all = {
      {":help", "", "this list", &Repl::help},
      {":vars", "", "the names of the session with their types", &Repl::listVariables},
      {":type", "EXPR", "the type of an expression, which is not run", &Repl::showType},
      {":doc", "NAME", "the manual of a module, a block or a function", &Repl::showManual},
      {":load", "FILE", "runs a script as one entry, or reads variables (.safetensors, .npz)",
       &Repl::load},
      {":save", "FILE", "writes all variables (.safetensors, .npz)", &Repl::save},
      {":reset", "", "forgets everything", &Repl::reset},
      {":quit", "", "leaves, as Ctrl-D does", &Repl::quit},
  };
  return all;
}

//===- Commands ------------------------------------------------------------===//

bool Repl::complain(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return false;
}

bool Repl::finish(Session::Outcome outcome) {
  wasInterrupted_ |= outcome == Session::Outcome::Interrupted;
  return outcome == Session::Outcome::Done;
}

bool Repl::finish(const absl::Status &status) {
  return status.ok() || reportStatus(status, ReportFormat::Text) == ExitDone;
}

bool Repl::help(const std::string &) {
  std::puts("Statements are run at once, and what they define is kept. An expression shows its\n"
            "value. An entry goes on while brackets are open. Commands:");
  for (const Command &command : commands())
    std::printf("  %-6s %-5s %s\n", command.name, command.argument, command.help);
  std::puts("Ctrl-C stops what is running; on a line it takes the line back.");
  return true;
}

bool Repl::quit(const std::string &) { return isDone_ = true; }

bool Repl::reset(const std::string &) {
  session_.reset();
  return true;
}

bool Repl::listVariables(const std::string &) {
  std::string text;
  std::vector<std::string> described;
  for (const auto &[name, decl] : session_.names())
    if (decl->kind != DeclKind::Import) {
      text += name + "\n";
      described.push_back(name);
    }
  auto types = session_.describe(text);
  if (!types || types->size() != described.size())
    return false;
  for (size_t i = 0; i < described.size(); ++i)
    std::printf("%s: %s\n", described[i].c_str(), (*types)[i].c_str());
  for (const auto &[name, decl] : session_.names())
    if (decl->kind == DeclKind::Import)
      std::printf("%s: module\n", name.c_str());
  return true;
}

bool Repl::showType(const std::string &text) {
  auto types = session_.describe(text);
  if (types && types->empty())
    return complain(":type expects an expression that has a value");
  for (const std::string &type : types.value_or(std::vector<std::string>()))
    std::puts(type.c_str());
  return types.has_value();
}

bool Repl::load(const std::string &file) {
  if (file.ends_with(".safetensors") || file.ends_with(".npz"))
    return finish(session_.loadVariables(file));
  return finish(session_.load(file));
}

bool Repl::showManual(const std::string &name) { return docCommand(name) == ExitDone; }

bool Repl::save(const std::string &file) { return finish(session_.saveVariables(file)); }

/// The text behind the name of a command, without the spaces around it.
static std::string argumentOf(const std::string &line, size_t end) {
  size_t begin = line.find_first_not_of(" \t", end);
  return begin == std::string::npos ? "" : line.substr(begin);
}

bool Repl::runCommand(const std::string &line) {
  size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string name = line.substr(0, end), argument = argumentOf(line, end);
  std::vector<std::string> known;
  for (const Command &command : commands()) {
    known.push_back(command.name);
    if (name != command.name)
      continue;
    if (argument.empty() != std::string(command.argument).empty())
      return complain(argument.empty() ? absl::StrCat(name, " expects ", command.argument)
                                       : absl::StrCat(name, " takes nothing"));
    return (this->*command.run)(argument);
  }
  std::string near = findNearest(name, known);
  return complain(
      absl::StrCat("unknown command '", name, "'",
                   near.empty() ? "; :help lists them" : "; did you mean '" + near + "'?"));
}

//===- The loop ------------------------------------------------------------===//

bool Repl::handle(const std::string &entry) {
  if (entry.empty())
    return true;
  return entry[0] == ':' ? runCommand(entry) : finish(session_.run(entry));
}

std::vector<std::string> Repl::complete(const std::string &word) const {
  std::vector<std::string> words;
  if (!word.starts_with(':'))
    return session_.complete(word);
  for (const Command &command : commands())
    if (std::string(command.name).starts_with(word))
      words.push_back(command.name);
  return words;
}

int Repl::run() {
  std::unique_ptr<LineReader> reader;
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
    reader = makeTerminalReader([this](const std::string &word) { return complete(word); });
  if (!reader)
    reader = makePipeReader();
  bool isGood = file_.empty() || load(file_);
  if (reader->isInteractive())
    std::puts("pdg: :help lists the commands, Ctrl-D leaves");
  std::string entry;
  while (!isDone_ && !isTerminated()) {
    std::string prompt = absl::StrCat(session_.entry(), "> ");
    LineReader::Result result =
        readEntry(*reader, prompt, std::string(prompt.size() - 2, '.') + "> ", entry);
    if (result == LineReader::Result::End)
      break;
    if (result == LineReader::Result::Line)
      isGood &= handle(entry);
    std::fflush(stdout);
    if (wasInterrupted_ && !reader->isInteractive())
      return ExitInterrupted;
  }
  return isGood || reader->isInteractive() ? ExitDone : ExitWrongInput;
}

} // namespace

int replCommand(const RunArguments &arguments) { return Repl(arguments).run(); }

} // namespace pdg

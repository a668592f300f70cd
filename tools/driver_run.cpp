// `pdc run`: compiles, feeds, runs, and hands over what the program returns.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"

#include "frontend/names.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "runtime/checkpoint/variables.h"
#include "runtime/worker/execution_context.h"
#include "tools/driver_compile.h"
#include "tools/driver_report.h"
#include "tools/interrupt.h"
#include "tools/run_executable.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace pdg {

//===----------------------------------------------------------------------===//
// What goes in
//===----------------------------------------------------------------------===//

/// The tensors of all `--feed`s by the name of their input. Of an archive that is fed as a whole
/// all arrays are there; those that no input asks for are not fed.
struct Feeds {
  std::map<std::string, HostTensor> tensors;
  std::map<std::string, std::string> files; ///< Where each comes from.
  std::set<std::string> optional;           ///< From archives.

  absl::Status add(const std::string &name, absl::StatusOr<HostTensor> tensor) {
    if (!tensor.ok())
      return tensor.status();
    if (!tensors.try_emplace(name, *std::move(tensor)).second)
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is fed twice"));
    return absl::OkStatus();
  }
};

/// What whole archives hold, for messages: the first few.
static std::vector<std::string> arraysOf(const Feeds &feeds) {
  constexpr size_t kMaxListed = 8;
  std::vector<std::string> arrays;
  for (const std::string &name : feeds.optional)
    if (arrays.size() < kMaxListed)
      arrays.push_back(absl::StrCat("'", name, "' ", feeds.tensors.at(name).typeString(), " (",
                                    feeds.files.at(name), ")"));
  if (feeds.optional.size() > kMaxListed)
    arrays.push_back("...");
  return arrays;
}

static absl::Status readArchive(const std::string &file, Feeds &feeds) {
  absl::StatusOr<std::vector<NamedTensor>> arrays = readNpz(file);
  if (!arrays.ok())
    return arrays.status();
  for (NamedTensor &array : *arrays)
    // What is fed by its name counts more than what an archive happens to have.
    if (!feeds.tensors.contains(array.name)) {
      feeds.tensors[array.name] = std::move(array.tensor);
      feeds.files[array.name] = file;
      feeds.optional.insert(array.name);
    }
  return absl::OkStatus();
}

static absl::StatusOr<Feeds> readFeeds(const std::vector<FeedArgument> &arguments) {
  Feeds feeds;
  absl::Status status;
  for (const FeedArgument &feed : arguments)
    if (!feed.name.empty() && status.ok()) {
      status = feeds.add(feed.name,
                         feed.array.empty() ? readNpy(feed.file) : readNpz(feed.file, feed.array));
      feeds.files[feed.name] =
          feed.array.empty() ? feed.file : absl::StrCat(feed.file, ":", feed.array);
    }
  for (const FeedArgument &feed : arguments)
    if (feed.name.empty() && status.ok())
      status = readArchive(feed.file, feeds);
  if (!status.ok())
    return status;
  return feeds;
}

/// The types of what is fed: of whole archives only what the script asks for.
static std::map<std::string, FedInput> typesOf(const Feeds &feeds, const Compilation &compilation) {
  std::map<std::string, FedInput> types;
  for (const auto &[name, tensor] : feeds.tensors)
    if (!feeds.optional.contains(name) || compilation.hasInput(name))
      types[name] = {tensor.dtype(), tensor.shape(), feeds.files.at(name)};
  return types;
}

/// The scopes that variables are in: of "net.hidden.W/adam.m" itself, "net.hidden.W", "net.hidden"
/// and "net".
static std::vector<std::string> scopesOf(const ProgramInfo &program) {
  std::set<std::string> scopes;
  for (const VariableInfo &variable : program.variables) {
    scopes.insert(variable.name);
    for (size_t end = 0; end < variable.name.size(); ++end)
      if (variable.name[end] == '.' || variable.name[end] == '/')
        scopes.insert(variable.name.substr(0, end));
  }
  return {scopes.begin(), scopes.end()};
}

/// Says before the run which of the scopes to load there are not.
static absl::Status checkScopes(const RunArguments &arguments, const ProgramInfo &program) {
  std::vector<std::string> known = scopesOf(program);
  for (const std::string &scope : arguments.only) {
    if (std::find(known.begin(), known.end(), scope) != known.end())
      continue;
    std::string message = absl::StrCat("--only ", scope, ": the program has no variable '", scope,
                                       "' and none in a scope of this name");
    if (std::string near = findNearest(scope, known); !near.empty())
      absl::StrAppend(&message, "; did you mean '", near, "'?");
    return absl::InvalidArgumentError(message);
  }
  return absl::OkStatus();
}

static absl::Status feedInputs(ExecutionContext &context, Feeds feeds) {
  for (const InputInfo &input : context.program().inputs)
    if (auto tensor = feeds.tensors.extract(input.name))
      if (absl::Status status = context.feed(input.name, std::move(tensor.mapped())); !status.ok())
        return status;
  for (const auto &[name, tensor] : feeds.tensors)
    if (!feeds.optional.contains(name))
      return absl::InvalidArgumentError(absl::StrCat("no input '", name, "' is used"));
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// What comes out
//===----------------------------------------------------------------------===//

/// Says before the run what would only be found at its end.
static absl::Status checkOutputs(const RunArguments &arguments) {
  if (!arguments.fetchFile.empty())
    if (absl::Status status = AtomicFile::create(arguments.fetchFile).status(); !status.ok())
      return status;
  return arguments.saveFile.empty() ? absl::OkStatus() : checkTensorFile(arguments.saveFile);
}

static absl::Status handOver(ExecutionContext &context, const RunArguments &arguments) {
  std::vector<TensorRef> values = context.fetchedValues();
  absl::Status status =
      arguments.fetchFile.empty() ? printValues(values) : writeNpz(arguments.fetchFile, values);
  if (status.ok() && !arguments.saveFile.empty())
    status = context.save(arguments.saveFile);
  return status;
}

/// After an interrupt: saves the variables as they are. Nothing else is handed over.
static void saveInterrupted(ExecutionContext &context, const RunArguments &arguments) {
  // Before the first statement there are no values, or not all of those to load.
  if (arguments.saveFile.empty() || !context.isInitialized())
    return;
  if (absl::Status status = context.save(arguments.saveFile); !status.ok())
    reportStatus(status, arguments.program.format);
  else if (!arguments.quiet)
    std::fprintf(stderr, "note: the variables are saved as they were, in %s\n",
                 arguments.saveFile.c_str());
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static RunOptions runOptionsOf(const RunArguments &arguments, const DataPaths &paths) {
  RunOptions options;
  options.paths = paths;
  options.seed = arguments.seed.value_or(0);
  options.threads = static_cast<int>(arguments.threads);
  options.isQuiet = arguments.quiet;
  options.loadFile = arguments.loadFile;
  options.loadOnly = arguments.only;
  return options;
}

/// Runs the program until its end, an error or an interrupt. Returns an exit code.
static int execute(const Executable &program, const RunArguments &arguments,
                   ExecutionContext &context) {
  setInterruptAction([](void *run) { static_cast<ExecutionContext *>(run)->interrupt(); },
                     &context);
  bool isDone = program.run(context);
  setInterruptAction(nullptr, nullptr);
  if (!isDone) {
    int exitCode = reportRunError(context.error(), arguments.program.format);
    if (exitCode == ExitInterrupted)
      saveInterrupted(context, arguments);
    return exitCode;
  }
  absl::Status status = handOver(context, arguments);
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

int runCommand(const RunArguments &arguments) {
  ReportFormat format = arguments.program.format;
  absl::StatusOr<Feeds> feeds = readFeeds(arguments.feeds);
  if (!feeds.ok())
    return reportStatus(feeds.status(), format);
  Compilation compilation(arguments.program);
  std::optional<Executable> program;
  if (compilation.load()) {
    compilation.setInputs(typesOf(*feeds, compilation), arraysOf(*feeds));
    if (compilation.compile(arguments.replicas))
      program = makeExecutable(compilation, arguments);
  }
  if (int exitCode = compilation.report(); !program)
    return exitCode;
  if (isInterrupted())
    return ExitInterrupted;
  if (absl::Status status = checkScopes(arguments, program->info); !status.ok())
    return reportStatus(status, format);
  if (absl::Status status = checkOutputs(arguments); !status.ok())
    return reportStatus(status, format);
  absl::StatusOr<std::unique_ptr<ExecutionContext>> context =
      ExecutionContext::create(program->info, runOptionsOf(arguments, compilation.paths()));
  absl::Status status = context.ok() ? feedInputs(**context, *std::move(feeds)) : context.status();
  if (!status.ok())
    return reportStatus(status, format);
  return execute(*program, arguments, **context);
}

} // namespace pdg

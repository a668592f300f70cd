// `pdc run`: compiles, feeds, runs, and hands over what the program returns.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver_run.h"

#include "frontend/names.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "runtime/checkpoint/variables.h"
#include "tools/driver_report.h"
#include "tools/interrupt.h"
#include "tools/run_executable.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdio>

namespace pdg {

//===----------------------------------------------------------------------===//
// What goes in
//===----------------------------------------------------------------------===//

absl::Status Feeds::add(const std::string &name, absl::StatusOr<HostTensor> tensor) {
  if (!tensor.ok())
    return tensor.status();
  if (!tensors.try_emplace(name, *std::move(tensor)).second)
    return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is fed twice"));
  return absl::OkStatus();
}

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

absl::StatusOr<Feeds> readFeeds(const std::vector<FeedArgument> &arguments) {
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

void announceFeeds(const Feeds &feeds, Compilation &compilation) {
  compilation.setInputs(typesOf(feeds, compilation), arraysOf(feeds));
}

/// The scopes that variables are in: of "net.hidden.W/adam.m" itself, "net.hidden.W", "net.hidden"
/// and "net".
static std::vector<std::string> scopesOf(const std::vector<std::string> &variables) {
  std::set<std::string> scopes;
  for (const std::string &name : variables) {
    scopes.insert(name);
    for (size_t end = 0; end < name.size(); ++end)
      if (name[end] == '.' || name[end] == '/')
        scopes.insert(name.substr(0, end));
  }
  return {scopes.begin(), scopes.end()};
}

absl::Status checkScopes(const RunArguments &arguments, const std::vector<std::string> &variables) {
  std::vector<std::string> known = scopesOf(variables);
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

absl::Status feedInputs(std::span<ExecutionContext *const> processes, Feeds feeds) {
  std::set<std::string> used;
  for (ExecutionContext *context : processes)
    for (const InputInfo &input : context->program().inputs) {
      auto found = feeds.tensors.find(input.name);
      if (found == feeds.tensors.end())
        continue;
      used.insert(input.name);
      // The last process may have it, the others get copies.
      absl::StatusOr<HostTensor> tensor =
          context == processes.back() ? std::move(found->second) : found->second.clone();
      absl::Status status =
          tensor.ok() ? context->feed(input.name, *std::move(tensor)) : tensor.status();
      if (!status.ok())
        return status;
    }
  for (const auto &[name, tensor] : feeds.tensors)
    if (!used.contains(name) && !feeds.optional.contains(name))
      return absl::InvalidArgumentError(absl::StrCat("no input '", name, "' is used"));
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// What comes out
//===----------------------------------------------------------------------===//

absl::Status checkOutputs(const RunArguments &arguments) {
  if (!arguments.fetchFile.empty())
    if (absl::Status status = AtomicFile::create(arguments.fetchFile).status(); !status.ok())
      return status;
  return arguments.saveFile.empty() ? absl::OkStatus() : checkTensorFile(arguments.saveFile);
}

absl::Status handOver(std::span<const TensorRef> fetched, std::span<const TensorRef> variables,
                      const RunArguments &arguments) {
  absl::Status status =
      arguments.fetchFile.empty() ? printValues(fetched) : writeNpz(arguments.fetchFile, fetched);
  if (status.ok() && !arguments.saveFile.empty())
    status = writeTensors(arguments.saveFile, variables);
  return status;
}

void saveInterrupted(std::span<const TensorRef> variables, const RunArguments &arguments) {
  if (arguments.saveFile.empty())
    return;
  if (absl::Status status = writeTensors(arguments.saveFile, variables); !status.ok())
    reportStatus(status, arguments.program.format);
  else if (!arguments.quiet)
    std::fprintf(stderr, "note: the variables are saved as they were, in %s\n",
                 arguments.saveFile.c_str());
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

RunOptions runOptionsOf(const RunArguments &arguments, const DataPaths &paths) {
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
  // From here on there is something to end in order.
  clearInterrupt(/*patience=*/2);
  setInterruptAction([](void *run) { static_cast<ExecutionContext *>(run)->interrupt(); },
                     &context);
  bool isDone = program.run(context);
  setInterruptAction(nullptr, nullptr);
  if (!isDone) {
    int exitCode = reportRunError(context.error(), arguments.program.format);
    // Before the first statement there are no values, or not all of those to load.
    if (exitCode == ExitInterrupted && context.isInitialized())
      saveInterrupted(context.namedVariables(), arguments);
    return exitCode;
  }
  absl::Status status = handOver(context.fetchedValues(), context.namedVariables(), arguments);
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

int runCommand(const RunArguments &arguments) {
  if (arguments.cluster.isCluster())
    return runClusterCommand(arguments);
  ReportFormat format = arguments.program.format;
  absl::StatusOr<Feeds> feeds = readFeeds(arguments.feeds);
  if (!feeds.ok())
    return reportStatus(feeds.status(), format);
  Compilation compilation(arguments.program);
  std::optional<Executable> program;
  if (compilation.load()) {
    announceFeeds(*feeds, compilation);
    if (compilation.compile(arguments.replicas))
      program = makeExecutable(compilation, arguments);
  }
  if (int exitCode = compilation.report(); !program)
    return exitCode;
  std::vector<std::string> names;
  for (const VariableInfo &variable : program->info.variables)
    names.push_back(variable.name);
  if (absl::Status status = checkScopes(arguments, names); !status.ok())
    return reportStatus(status, format);
  if (absl::Status status = checkOutputs(arguments); !status.ok())
    return reportStatus(status, format);
  absl::StatusOr<std::unique_ptr<ExecutionContext>> context =
      ExecutionContext::create(program->info, runOptionsOf(arguments, compilation.paths()));
  absl::Status status = context.status();
  if (status.ok())
    status = feedInputs(std::array{context->get()}, *std::move(feeds));
  if (!status.ok())
    return reportStatus(status, format);
  return execute(*program, arguments, **context);
}

} // namespace pdg

// `pdc run` on a cluster of processes: makes a module of each role, lets the leader run them, and
// hands over what they return.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/shared_object.h"
#include "runtime/checkpoint/variables.h"
#include "runtime/cluster/leader.h"
#include "runtime/module/module.h"
#include "tools/driver_report.h"
#include "tools/driver_run.h"
#include "tools/interrupt.h"
#include "tools/run_cluster.h"
#include "tools/run_native.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <filesystem>
#include <set>

namespace pdg {

namespace {

/// The states of the roles as the leader keeps them: their variables before and after the run, and
/// what is fed. Their programs run elsewhere.
struct Shadows {
  std::vector<std::unique_ptr<ExecutionContext>> contexts;
  std::vector<ExecutionContext *> all() const {
    std::vector<ExecutionContext *> pointers;
    for (const auto &context : contexts)
      pointers.push_back(context.get());
    return pointers;
  }
};

absl::StatusOr<Shadows> makeShadows(const ClusterExecutable &program, const RunOptions &options) {
  Shadows shadows;
  for (const RoleExecutable &role : program.roles) {
    auto context = ExecutionContext::create(role.info, options);
    if (!context.ok())
      return context.status();
    shadows.contexts.push_back(*std::move(context));
  }
  return shadows;
}

/// The program `pdworker` that belongs to this `pdc`.
std::string workerBesideThis() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "pdworker").string();
}

/// Equal for the modules of one program on one cluster, and for no others.
std::string identityOf(const ClusterExecutable &program) {
  std::string text = absl::StrCat(program.topology.trainers, " ", program.topology.servers);
  for (const RoleExecutable &role : program.roles)
    absl::StrAppend(
        &text, "\n", toJson(role.info),
        sha256({role.code->object->getBufferStart(), role.code->object->getBufferSize()}));
  return sha256(text);
}

absl::StatusOr<std::map<Peer, std::string>> makeModules(const ClusterExecutable &program) {
  std::map<Peer, std::string> modules;
  std::string identity = identityOf(program);
  for (const RoleExecutable &role : program.roles) {
    auto library = linkSharedObject(role.code->object->getBuffer());
    if (!library)
      return absl::UnavailableError(llvm::toString(library.takeError()));
    Module module;
    module.compiler = "pdc";
    module.cluster = identity;
    module.role = role.role.kind;
    module.index = role.role.index;
    module.trainers = program.topology.trainers;
    module.servers = program.topology.servers;
    module.info = role.info;
    // All processes must know the same of an edge. Queues inside of a process stand behind them.
    std::copy(program.topology.edges.begin(), program.topology.edges.end(),
              module.info.edges.begin());
    module.code[role.code->isa] = *std::move(library);
    auto bytes = writeModule(module);
    if (!bytes.ok())
      return bytes.status();
    modules[role.role] = *std::move(bytes);
  }
  return modules;
}

/// Loads the variables of `--load` into the shadows, and adds to the job those that were loaded.
absl::Status loadInto(const Shadows &shadows, const RunArguments &arguments, JobOptions &job) {
  if (arguments.loadFile.empty())
    return absl::OkStatus();
  std::vector<ExecutionContext *> contexts = shadows.all();
  absl::StatusOr<WholeVariables> variables = WholeVariables::create(contexts);
  if (!variables.ok())
    return variables.status();
  LoadReport report;
  absl::Status status =
      loadVariables(arguments.loadFile, variables->refs(), arguments.only, &report);
  if (!status.ok())
    return status;
  variables->scatter();
  if (!arguments.quiet)
    std::fputs(describe(report, arguments.loadFile).c_str(), stderr);
  std::set<std::string> kept;
  for (const std::string &entry : report.kept)
    kept.insert(entry.substr(0, entry.find(": ")));
  for (const auto &context : shadows.contexts)
    for (size_t i = 0; i < context->variables().size(); ++i) {
      const VariableInfo &info = context->program().variables[i];
      if (kept.contains(info.whole.empty() ? info.name : info.whole))
        continue;
      auto copy = context->variables()[i].clone();
      if (!copy.ok())
        return copy.status();
      job.variables.push_back({info.name, *std::move(copy)});
    }
  return absl::OkStatus();
}

absl::Status takeInputs(const Shadows &shadows, JobOptions &job) {
  for (const auto &context : shadows.contexts)
    for (size_t i = 0; i < context->program().inputs.size(); ++i) {
      auto copy = context->input(static_cast<int64_t>(i)).clone();
      if (!copy.ok())
        return copy.status();
      job.inputs[context->program().inputs[i].name] = *std::move(copy);
    }
  return absl::OkStatus();
}

/// Puts the variables that the processes returned into the shadows.
absl::Status takeVariables(const Shadows &shadows, std::vector<NamedTensor> &variables) {
  std::map<std::string, HostTensor *> byName;
  for (NamedTensor &variable : variables)
    byName[variable.name] = &variable.tensor;
  for (const auto &context : shadows.contexts)
    for (TensorRef &own : context->namedVariables()) {
      auto found = byName.find(own.name);
      if (found == byName.end() || found->second->typeString() != own.tensor->typeString())
        return absl::DataLossError("no process returned the variable '" + own.name + "'");
      std::memcpy(own.tensor->bytes(), found->second->bytes(),
                  static_cast<size_t>(own.tensor->numBytes()));
    }
  return absl::OkStatus();
}

absl::Status handOverResult(const Shadows &shadows, const ClusterExecutable &program,
                            JobResult &result, const RunArguments &arguments) {
  std::vector<TensorRef> fetched;
  for (NamedTensor &value : result.fetched)
    fetched.push_back({value.name, &value.tensor});
  if (arguments.saveFile.empty())
    return handOver(fetched, {}, arguments);
  if (absl::Status status = takeVariables(shadows, result.variables); !status.ok())
    return status;
  std::vector<ExecutionContext *> contexts = shadows.all();
  absl::StatusOr<WholeVariables> whole = WholeVariables::create(contexts);
  if (!whole.ok())
    return whole.status();
  return handOver(fetched, orderedVariables(*whole, program), arguments);
}

} // namespace

int runJobCommand(const ClusterExecutable &program, const RunArguments &arguments, Feeds feeds,
                  const RunOptions &options) {
  ReportFormat format = arguments.program.format;
  JobOptions job;
  absl::StatusOr<Shadows> shadows = makeShadows(program, options);
  if (!shadows.ok())
    return reportStatus(shadows.status(), format);
  absl::Status status = feedInputs(shadows->all(), std::move(feeds));
  if (status.ok())
    status = takeInputs(*shadows, job);
  if (status.ok())
    status = loadInto(*shadows, arguments, job);
  if (!status.ok())
    return reportStatus(status, format);
  auto modules = makeModules(program);
  if (!modules.ok())
    return reportStatus(modules.status(), format);
  job.topology = program.topology;
  job.worker = workerBesideThis();
  job.modules = *std::move(modules);
  job.paths = options.paths;
  job.seed = options.seed;
  int threads = options.threads > 0 ? options.threads : ThreadPool::availableProcessors();
  job.threads = std::max(1, threads / static_cast<int>(allPeers(program.topology).size()));
  job.sendsVariables = !arguments.saveFile.empty();
  job.print = [](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  };
  auto running = Job::create(std::move(job));
  if (!running.ok())
    return reportStatus(running.status(), format);
  clearInterrupt(/*patience=*/2);
  setInterruptAction([](void *it) { static_cast<Job *>(it)->interrupt(); }, running->get());
  JobResult result = (*running)->run();
  setInterruptAction(nullptr, nullptr);
  if (result.error.exitCode != 0)
    return reportRunError(result.error, format);
  status = handOverResult(*shadows, program, result, arguments);
  return status.ok() ? ExitDone : reportStatus(status, format);
}

} // namespace pdg

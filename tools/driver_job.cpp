// `pdc run` on a cluster of processes: makes a module of each role, lets the leader run them, and
// hands over what they return.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/variables.h"
#include "runtime/cluster/leader.h"
#include "tools/driver_build.h"
#include "tools/driver_report.h"
#include "tools/driver_run.h"
#include "tools/interrupt.h"
#include "tools/run_cluster.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sys/ioctl.h>
#include <unistd.h>

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

absl::StatusOr<std::map<Peer, std::string>> modulesOf(const ClusterExecutable &program) {
  std::vector<BuiltRole> roles;
  for (const RoleExecutable &role : program.roles) {
    roles.push_back({role.role});
    if (absl::Status status = addCode(roles.back(), *role.code); !status.ok())
      return status;
  }
  return makeModules(program.topology, roles);
}

/// Loads the variables of `--load` into the shadows, and adds to the job those that were loaded.
absl::Status loadShadows(const Shadows &shadows, const RunArguments &arguments, JobOptions &job) {
  if (arguments.loadFile.empty())
    return absl::OkStatus();
  absl::StatusOr<LoadReport> report = loadInto(shadows.all(), arguments);
  if (!report.ok())
    return report.status();
  std::set<std::string> kept;
  for (const std::string &entry : report->kept)
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

/// The variables of all processes as a file has them.
absl::Status saveResult(const Shadows &shadows, const ClusterExecutable &program, JobResult &result,
                        llvm::function_ref<absl::Status(std::span<const TensorRef>)> save) {
  if (absl::Status status = takeVariables(shadows, result.variables); !status.ok())
    return status;
  std::vector<ExecutionContext *> contexts = shadows.all();
  absl::StatusOr<WholeVariables> whole = WholeVariables::create(contexts);
  return whole.ok() ? save(orderedVariables(*whole, program)) : whole.status();
}

absl::Status handOverResult(const Shadows &shadows, const ClusterExecutable &program,
                            JobResult &result, const RunArguments &arguments) {
  std::vector<TensorRef> fetched;
  for (NamedTensor &value : result.fetched)
    fetched.push_back({value.name, &value.tensor});
  auto handOverAll = [&](std::span<const TensorRef> variables) {
    return handOver(fetched, variables, arguments);
  };
  return arguments.saveFile.empty() ? handOverAll({})
                                    : saveResult(shadows, program, result, handOverAll);
}

/// Reports why a job stopped; after an interrupt the variables are saved as they are, if the
/// program had begun. Returns the exit code.
int reportStop(const Shadows &shadows, const ClusterExecutable &program, JobResult &result,
               const RunArguments &arguments) {
  int exitCode = reportRunError(result.error, arguments.program.format);
  if (exitCode != ExitInterrupted || arguments.saveFile.empty() || result.variables.empty())
    return exitCode;
  absl::Status status =
      saveResult(shadows, program, result, [&](std::span<const TensorRef> variables) {
        saveInterrupted(variables, arguments);
        return absl::OkStatus();
      });
  if (!status.ok())
    reportStatus(status, arguments.program.format);
  return exitCode;
}

/// The terminal on which trainer 0 shows how far it is; none if standard error is no terminal that
/// can redraw a line.
void describeTerminal(JobOptions &job) {
  const char *kind = std::getenv("TERM");
  winsize size = {};
  if (!isatty(STDERR_FILENO) || !kind || std::string_view(kind) == "dumb")
    return;
  job.progressColumns = 80;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    job.progressColumns = size.ws_col;
  job.hasColors = RenderOptions::forTerminal(STDERR_FILENO).useColor;
}

/// What a job prints, shows and says.
void addOutputs(JobOptions &job, const RunArguments &arguments) {
  job.print = [](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  };
  job.progress = [](std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stderr); };
  if (!arguments.quiet)
    describeTerminal(job);
  if (arguments.isVerbose)
    job.note = [](std::string_view text) {
      std::fprintf(stderr, "note: %s\n", std::string(text).c_str());
    };
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
    status = loadShadows(*shadows, arguments, job);
  if (!status.ok())
    return reportStatus(status, format);
  auto modules = modulesOf(program);
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
  addOutputs(job, arguments);
  auto running = Job::create(std::move(job));
  if (!running.ok())
    return reportStatus(running.status(), format);
  clearInterrupt(/*patience=*/2);
  setInterruptAction([](void *it) { static_cast<Job *>(it)->interrupt(); }, running->get());
  JobResult result = (*running)->run();
  setInterruptAction(nullptr, nullptr);
  if (result.error.exitCode != 0)
    return reportStop(*shadows, program, result, arguments);
  status = handOverResult(*shadows, program, result, arguments);
  return status.ok() ? ExitDone : reportStatus(status, format);
}

} // namespace pdg

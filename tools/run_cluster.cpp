// Compiles the module of each role, and makes processes of the programs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/run_cluster.h"

#include "ir/ops/variable.h"
#include "tools/cluster.h"

#include <algorithm>

namespace pdg {

/// The names of all variables of a module.
static std::vector<std::string> variableNames(mlir::ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](VariableOp op) { names.push_back(op.getName().str()); });
  return names;
}

/// Compiles the modules in that of `compilation`.
static std::optional<std::vector<RoleExecutable>> makeRoles(Compilation &compilation,
                                                            const RunArguments &arguments) {
  std::vector<RoleExecutable> roles;
  for (mlir::ModuleOp module : compilation.module().getOps<mlir::ModuleOp>()) {
    std::optional<RoleExecutable> role = makeRoleExecutable(compilation, module, arguments);
    if (!role)
      return std::nullopt;
    roles.push_back(*std::move(role));
  }
  return roles;
}

std::optional<ClusterExecutable> makeClusterExecutable(Compilation &compilation,
                                                       const RunArguments &arguments) {
  ClusterExecutable result;
  result.variables = variableNames(compilation.module());
  if (!checkRunnable(arguments.cluster, compilation.sources(), compilation.diagnostics()) ||
      !compilation.cut(arguments.cluster, arguments.replicas))
    return std::nullopt;
  ClusterAttr cluster = ClusterAttr::of(compilation.module());
  auto refuse = [&](std::string message) {
    compilation.diagnostics().report(DiagCode::PD1000, {}, std::move(message));
    return std::nullopt;
  };
  if (cluster && cluster.getMode() == ClusterMode::Local)
    return refuse("expects the mode sync, async, bounded:K or all-reduce, got local: it can be "
                  "planned, but not run");
  if (cluster && cluster.getMode() == ClusterMode::Bounded)
    result.pace = cluster.getBound();
  if (auto sessions = compilation.module()->getAttrOfType<mlir::IntegerAttr>(kSessionsAttribute))
    result.sessions = sessions.getInt();
  RunArguments roleArguments = arguments;
  // Sessions share the variables of a server, in one process.
  roleArguments.isInProcess |= result.sessions > 1;
  std::optional<std::vector<RoleExecutable>> roles = makeRoles(compilation, roleArguments);
  if (!roles)
    return std::nullopt;
  if (!cluster || static_cast<int64_t>(roles->size()) != 1 + cluster.getServers())
    return refuse("expects a module for the trainers and one for each server");
  std::vector<Peer> peers;
  std::vector<const ProgramInfo *> programs;
  for (const RoleExecutable &role : *roles) {
    peers.push_back(role.role);
    programs.push_back(&role.info);
  }
  absl::StatusOr<std::vector<EdgeInfo>> edges = joinEdges(peers, programs);
  if (!edges.ok())
    return refuse(std::string(edges.status().message()));
  result.topology = {cluster.getTrainers(), cluster.getServers(), *std::move(edges)};
  result.roles = *std::move(roles);
  return result;
}

absl::StatusOr<std::unique_ptr<LocalCluster>> makeLocalCluster(const ClusterExecutable &program,
                                                               const RunArguments &arguments,
                                                               const RunOptions &runOptions) {
  // One process at a time in the interpreter: it shares the program with the others.
  std::optional<uint64_t> seed;
  if (arguments.interpret || arguments.checkNan)
    seed = runOptions.seed;
  auto cluster = LocalCluster::create(program.topology, seed, program.sessions);
  if (!cluster.ok())
    return cluster.status();
  if (program.pace >= 0)
    (*cluster)->keepPace(program.pace);
  RunOptions options = runOptions;
  std::vector<Peer> peers = allPeers(program.topology);
  int64_t count = static_cast<int64_t>(peers.size()) * program.sessions;
  int64_t threads = options.threads > 0 ? options.threads : ThreadPool::availableProcessors();
  options.threads = static_cast<int>(std::max<int64_t>(1, threads / count));
  for (int64_t i = 0; i < count; ++i) {
    Peer peer = peers[static_cast<size_t>(i) % peers.size()];
    size_t role = peer.kind == PeerKind::Trainer ? 0 : 1 + static_cast<size_t>(peer.index);
    auto context = ExecutionContext::create(program.roles[role].info, options);
    if (!context.ok())
      return context.status();
    // Trainers that do not keep step differ in what they print.
    if (program.sessions > 1 && peer.kind == PeerKind::Trainer)
      (*context)->setSink(ExecutionContext::printerWithLabel(
          "trainer " + std::to_string(i / static_cast<int64_t>(peers.size())) + ": "));
    LocalProcess &process = (*cluster)->add(*std::move(context));
    if (program.pace >= 0 && peer.kind == PeerKind::Trainer)
      process.context->setBatchHook([cluster = cluster->get(), &process](int64_t batches) {
        cluster->awaitOthers(process, batches);
      });
    program.roles[role].prepare(**cluster, process);
    options.isQuiet = true;
  }
  return cluster;
}

std::vector<TensorRef> orderedVariables(const WholeVariables &variables,
                                        const ClusterExecutable &program) {
  std::vector<TensorRef> refs = variables.refs();
  auto place = [&](const TensorRef &variable) {
    return std::find(program.variables.begin(), program.variables.end(), variable.name);
  };
  std::sort(refs.begin(), refs.end(),
            [&](const TensorRef &a, const TensorRef &b) { return place(a) < place(b); });
  return refs;
}

} // namespace pdg

// `pdc build`: compiles the program of each role for all instruction sets, and writes a folder of
// modules with a manifest for people and programs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver_build.h"

#include "passes/codegen/jit/shared_object.h"
#include "runtime/base/tensor.h"
#include "runtime/checkpoint/file.h"
#include "runtime/module/module.h"
#include "tools/driver_report.h"
#include "tools/run_cluster.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace pdg {

using Json = nlohmann::ordered_json;

static constexpr const char *kCompiler = "pdc " PDG_VERSION;

//===- Modules -------------------------------------------------------------===//

absl::Status addCode(BuiltRole &role, const NativeObject &object) {
  auto library = linkSharedObject(object.object->getBuffer());
  if (!library)
    return absl::UnavailableError(llvm::toString(library.takeError()));
  ProgramInfo info = object.info;
  // Code for wider vectors may need more room for values in between; all else is of the program.
  info.arenaBytes = std::max(info.arenaBytes, role.info.arenaBytes);
  role.info.arenaBytes = info.arenaBytes;
  if (!role.libraries.empty() && toJson(info) != toJson(role.info))
    return absl::InternalError("the tables of the program depend on the instruction set");
  role.info = std::move(info);
  role.libraries[object.isa] = *std::move(library);
  return absl::OkStatus();
}

std::string identityOf(const Topology &topology, std::span<const BuiltRole> roles) {
  std::string text = absl::StrCat(topology.trainers, " ", topology.servers);
  for (const BuiltRole &role : roles) {
    absl::StrAppend(&text, "\n", toJson(role.info));
    for (const auto &[isa, library] : role.libraries)
      absl::StrAppend(&text, "\n", isa, " ", sha256(library));
  }
  return sha256(text);
}

absl::StatusOr<std::map<Peer, std::string>> makeModules(const Topology &topology,
                                                        std::span<const BuiltRole> roles) {
  std::map<Peer, std::string> modules;
  std::string identity = identityOf(topology, roles);
  for (const BuiltRole &role : roles) {
    Module module;
    module.compiler = kCompiler;
    module.cluster = identity;
    module.role = role.role.kind;
    module.index = role.role.index;
    module.trainers = topology.trainers;
    module.servers = topology.servers;
    module.info = role.info;
    // All processes must know the same of an edge. Queues inside of a process stand behind them.
    std::copy(topology.edges.begin(), topology.edges.end(), module.info.edges.begin());
    module.code = role.libraries;
    auto bytes = writeModule(module);
    if (!bytes.ok())
      return bytes.status();
    modules[role.role] = *std::move(bytes);
  }
  return modules;
}

//===- Compiling -----------------------------------------------------------===//

namespace {

struct BuiltProgram {
  Topology topology;
  std::vector<BuiltRole> roles;
};

/// Compiles a copy of `module` for every instruction set.
std::optional<BuiltRole> buildRole(Compilation &compilation, mlir::ModuleOp module, Peer peer) {
  BuiltRole role{peer};
  for (const char *isa : {"avx2", "avx512"}) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    std::optional<NativeObject> object = buildNative(compilation, *copy, isa);
    if (!object)
      return std::nullopt;
    if (absl::Status status = addCode(role, *object); !status.ok()) {
      compilation.diagnostics().report(DiagCode::PD1000, {}, std::string(status.message()));
      return std::nullopt;
    }
  }
  return role;
}

std::optional<BuiltProgram> buildCluster(Compilation &compilation,
                                         const BuildArguments &arguments) {
  RunArguments run;
  run.program = arguments.program;
  run.cluster = arguments.cluster;
  run.replicas = arguments.replicas;
  std::optional<ClusterExecutable> cluster = makeClusterExecutable(compilation, run);
  if (!cluster)
    return std::nullopt;
  if (cluster->sessions > 1) {
    compilation.diagnostics().report(
        DiagCode::PD1000, {},
        "expects the mode sync or all-reduce: trainers that do not keep step run as threads of "
        "`pdc run`, and have no modules");
    return std::nullopt;
  }
  BuiltProgram program{cluster->topology, {}};
  size_t next = 0;
  for (mlir::ModuleOp module : compilation.module().getOps<mlir::ModuleOp>()) {
    std::optional<BuiltRole> role = buildRole(compilation, module, cluster->roles[next++].role);
    if (!role)
      return std::nullopt;
    program.roles.push_back(*std::move(role));
  }
  return program;
}

/// The whole program as that of the only trainer.
std::optional<BuiltProgram> buildPlain(Compilation &compilation, const BuildArguments &arguments) {
  if (!compilation.split(arguments.replicas))
    return std::nullopt;
  std::optional<BuiltRole> role = buildRole(compilation, compilation.module(), Peer{});
  if (!role)
    return std::nullopt;
  return BuiltProgram{{1, 0, {}}, {*std::move(role)}};
}

std::optional<BuiltProgram> build(Compilation &compilation, const BuildArguments &arguments) {
  if (!compilation.load() || !compilation.elaborate() || !compilation.simplify())
    return std::nullopt;
  // A graph in a file may have been cut already.
  bool hasRoles = !compilation.module().getOps<mlir::ModuleOp>().empty();
  return arguments.cluster.isCluster() || hasRoles ? buildCluster(compilation, arguments)
                                                   : buildPlain(compilation, arguments);
}

//===- The folder ----------------------------------------------------------===//

std::string fileOf(Peer role) {
  return role.kind == PeerKind::Trainer ? "trainer.pdm"
                                        : absl::StrCat("server_", role.index, ".pdm");
}

Json variablesJson(const ProgramInfo &info) {
  Json variables = Json::array();
  for (const VariableInfo &variable : info.variables) {
    Json json = {{"name", variable.name}, {"type", typeString(variable.dtype, variable.shape)}};
    if (!variable.whole.empty())
      json["part_of"] = variable.whole;
    variables.push_back(json);
  }
  return variables;
}

Json roleJson(const BuiltRole &role, const Topology &topology, const std::string &bytes) {
  bool isTrainer = role.role.kind == PeerKind::Trainer;
  Json code = Json::array();
  for (const auto &[isa, library] : role.libraries)
    code.push_back({{"isa", isa}, {"sha256", absl::BytesToHexString(sha256(library))}});
  return {{"role", isTrainer ? "trainer" : nameOf(role.role)},
          {"processes", isTrainer ? topology.trainers : 1},
          {"module", fileOf(role.role)},
          {"bytes", bytes.size()},
          {"sha256", absl::BytesToHexString(sha256(bytes))},
          {"code", code},
          {"arena_bytes", role.info.arenaBytes},
          {"variables", variablesJson(role.info)}};
}

Json edgeJson(const EdgeInfo &edge) {
  auto end = [](PeerKind kind, int64_t index) {
    return index == kAllOfKind ? std::string(kind == PeerKind::Trainer ? "trainer" : "server")
                               : nameOf({kind, index});
  };
  return {{"name", edge.name},
          {"type", typeString(edge.dtype, edge.shape)},
          {"from", end(edge.fromKind, edge.fromIndex)},
          {"to", end(edge.toKind, edge.toIndex)},
          {"depth", edge.depth},
          {"place", edge.place}};
}

std::string manifestOf(const BuiltProgram &program, const std::map<Peer, std::string> &modules,
                       const BuildArguments &arguments) {
  Json json = {{"format", kModuleFormat},
               {"compiler", kCompiler},
               {"script", arguments.program.file},
               {"trainers", program.topology.trainers},
               {"servers", program.topology.servers},
               {"cluster", absl::BytesToHexString(identityOf(program.topology, program.roles))}};
  json["roles"] = Json::array();
  for (const BuiltRole &role : program.roles)
    json["roles"].push_back(roleJson(role, program.topology, modules.at(role.role)));
  json["edges"] = Json::array();
  for (const EdgeInfo &edge : program.topology.edges)
    json["edges"].push_back(edgeJson(edge));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status writeWhole(const std::string &path, const std::string &bytes) {
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(bytes); !status.ok())
    return status;
  return file->commit();
}

/// The manifest comes last: where it is, all that it lists is there.
absl::Status writeFolder(const BuiltProgram &program, const BuildArguments &arguments) {
  std::error_code error;
  std::filesystem::path folder = arguments.output;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::UnavailableError(
        absl::StrCat("cannot make the folder ", arguments.output, ": ", error.message()));
  auto modules = makeModules(program.topology, program.roles);
  if (!modules.ok())
    return modules.status();
  for (const auto &[role, bytes] : *modules)
    if (absl::Status status = writeWhole((folder / fileOf(role)).string(), bytes); !status.ok())
      return status;
  return writeWhole((folder / "manifest.json").string(), manifestOf(program, *modules, arguments));
}

} // namespace

int buildCommand(const BuildArguments &arguments) {
  Compilation compilation(arguments.program);
  std::optional<BuiltProgram> program = build(compilation, arguments);
  if (int exitCode = compilation.report(); exitCode != 0 || !program)
    return exitCode;
  absl::Status status = writeFolder(*program, arguments);
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

} // namespace pdg

// The two ways to run a graph.
// SPDX-License-Identifier: Apache-2.0
#include "tools/run_executable.h"

#include "ir/interpret/interpreter.h"
#include "tools/run_native.h"

namespace pdg {

static std::optional<Executable> makeInterpreted(Compilation &compilation, bool checksNan) {
  mlir::FailureOr<ProgramTables> built =
      ProgramTables::build(compilation.module(), {compilation.excerpts(), checksNan});
  if (failed(built))
    return std::nullopt;
  auto tables = std::make_shared<ProgramTables>(std::move(*built));
  return Executable{tables->info(), [&compilation, tables, checksNan](ExecutionContext &context) {
                      return interpret(compilation.module(), *tables, context,
                                       {.checksNan = checksNan}) == 0;
                    }};
}

static std::optional<Executable> makeNative(Compilation &compilation, const std::string &isa) {
  std::optional<NativeCode> native = loadNative(compilation, isa);
  if (!native)
    return std::nullopt;
  std::shared_ptr<LoadedProgram> program = std::move(native->program);
  return Executable{std::move(native->info), [program](ExecutionContext &context) {
                      return context.run(program->init(), program->main());
                    }};
}

/// Runs processes of one role in the interpreter, one at a time.
static std::optional<RoleExecutable> makeInterpretedRole(Compilation &compilation,
                                                         mlir::OwningOpRef<mlir::ModuleOp> module,
                                                         Peer role, bool checksNan) {
  mlir::FailureOr<ProgramTables> built =
      ProgramTables::build(*module, {compilation.excerpts(), checksNan});
  if (failed(built))
    return std::nullopt;
  struct Program {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    ProgramTables tables;
  };
  auto program = std::make_shared<Program>(Program{std::move(module), std::move(*built)});
  return RoleExecutable{
      role, program->tables.info(), [program, checksNan](LocalCluster &cluster, LocalProcess &p) {
        InterpretOptions options{checksNan, [&cluster, &p] { cluster.yield(p); }};
        auto run = std::make_shared<InterpretedRun>(program->tables, *p.context, options);
        p.initialize = [program, run] { return run->initialize(); };
        p.execute = [program, run] { return run->execute(); };
      }};
}

static std::optional<RoleExecutable> makeNativeRole(Compilation &compilation, mlir::ModuleOp module,
                                                    Peer role, const RunArguments &arguments) {
  std::optional<NativeObject> native = compileNative(compilation, module, arguments.isa);
  if (!native)
    return std::nullopt;
  auto code = std::make_shared<const NativeObject>(*std::move(native));
  RoleExecutable result{role, code->info, {}, code};
  if (!arguments.isInProcess)
    return result;
  std::shared_ptr<LoadedProgram> program = loadObject(compilation, *code);
  if (!program)
    return std::nullopt;
  result.prepare = [program](LocalCluster &, LocalProcess &p) {
    ExecutionContext *context = p.context.get();
    p.initialize = [=] { return context->initialize(program->init()); };
    p.execute = [=] { return context->execute(program->main()); };
  };
  return result;
}

std::optional<RoleExecutable> makeRoleExecutable(Compilation &compilation, mlir::ModuleOp role,
                                                 const RunArguments &arguments) {
  auto name = role->getAttrOfType<RoleAttr>("pdg.role");
  if (!name || name.isAnywhere()) {
    role.emitError("expects the attribute 'pdg.role'");
    return std::nullopt;
  }
  Peer peer = name.isServer() ? Peer{PeerKind::Server, name.getIndex()} : Peer{};
  // A module of its own: passes may run on it without the others.
  mlir::OwningOpRef<mlir::ModuleOp> module = role.clone();
  return arguments.interpret || arguments.checkNan
             ? makeInterpretedRole(compilation, std::move(module), peer, arguments.checkNan)
             : makeNativeRole(compilation, *module, peer, arguments);
}

std::optional<Executable> makeExecutable(Compilation &compilation, const RunArguments &arguments) {
  // Only the interpreter looks at every value.
  return arguments.interpret || arguments.checkNan
             ? makeInterpreted(compilation, arguments.checkNan)
             : makeNative(compilation, arguments.isa);
}

} // namespace pdg

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

std::optional<Executable> makeExecutable(Compilation &compilation, const RunArguments &arguments) {
  // Only the interpreter looks at every value.
  return arguments.interpret || arguments.checkNan
             ? makeInterpreted(compilation, arguments.checkNan)
             : makeNative(compilation, arguments.isa);
}

} // namespace pdg

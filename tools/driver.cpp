// `pdc check` and `pdc emit`: compile and do not run.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"

#include "frontend/ast_print.h"
#include "runtime/base/text.h"
#include "tools/driver_compile.h"
#include "tools/driver_report.h"
#include "tools/run_native.h"

#include "llvm/Support/raw_ostream.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace pdg {

int checkCommand(const CheckArguments &arguments) {
  if (arguments.cluster.isCluster())
    return checkDistributed(arguments);
  Compilation compilation(arguments.program);
  // The tables find what only whole programs can have wrong.
  if (compilation.load() && compilation.compile())
    (void)ProgramTables::build(compilation.module(), {{}, false, /*isCheckOnly=*/true});
  return compilation.report();
}

/// Where stages go: a file, a folder of files, or standard output.
class StageWriter {
public:
  explicit StageWriter(const EmitArguments &arguments) : arguments_(arguments) {}

  bool wants(std::string_view stage) const {
    return stage == arguments_.stage || !arguments_.dumpStages.empty();
  }

  /// True if the last of the wanted stages is not behind `stage`.
  bool isLast(std::string_view stage) const {
    return stage == arguments_.stage && arguments_.dumpStages.empty();
  }

  absl::Status write(std::string_view stage, const std::string &text) {
    if (!arguments_.dumpStages.empty()) {
      std::error_code failed;
      std::filesystem::create_directories(arguments_.dumpStages, failed);
      std::string number = std::to_string(count_++);
      if (absl::Status status = writeFile(
              absl::StrCat(arguments_.dumpStages, "/", number, "-", toAbsl(stage), ".txt"), text);
          !status.ok())
        return status;
    }
    if (stage != arguments_.stage)
      return absl::OkStatus();
    if (!arguments_.output.empty())
      return writeFile(arguments_.output, text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 ? absl::OkStatus()
                                    : absl::ErrnoToStatus(errno, "cannot write to standard output");
  }

private:
  static absl::Status writeFile(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    return file ? absl::OkStatus()
                : absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  }

  const EmitArguments &arguments_;
  int count_ = 0;
};

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << '\n';
  return text;
}

/// Writes the stages behind the graph.
static absl::Status emitNativeStages(Compilation &compilation, const EmitArguments &arguments,
                                     StageWriter &writer) {
  std::string_view last = arguments.dumpStages.empty() ? arguments.stage : std::string_view();
  std::optional<NativeTexts> texts = emitNative(compilation, arguments.isa, last);
  if (!texts)
    return absl::OkStatus(); // The compilation reports why.
  const std::pair<std::string_view, const std::string &> stages[] = {
      {"loops", texts->loops}, {"llvm", texts->llvm}, {"asm", texts->assembly}};
  for (const auto &[stage, text] : stages)
    if (writer.wants(stage))
      if (absl::Status status = writer.write(stage, text); !status.ok())
        return status;
  return absl::OkStatus();
}

/// Writes the programs of a cluster's roles, or that of one of them.
static absl::Status emitRoles(Compilation &compilation, const EmitArguments &arguments,
                              StageWriter &writer) {
  if (!compilation.cut(arguments.cluster, arguments.replicas))
    return absl::OkStatus(); // The compilation reports why.
  if (arguments.stage == "distributed")
    return writer.write(arguments.stage, textOf(compilation.module()));
  std::string wanted = arguments.stage.substr(roleStage.size()), names;
  for (auto module : compilation.module().getOps<mlir::ModuleOp>()) {
    std::string name = module.getSymName().value_or("").str();
    if (name == wanted)
      return writer.write(arguments.stage, textOf(module));
    names += (names.empty() ? "" : ", ") + name;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no role '", wanted, "' in this cluster: expected one of ", names));
}

int emitCommand(const EmitArguments &arguments) {
  Compilation compilation(arguments.program);
  StageWriter writer(arguments);
  absl::Status status;
  auto isDone = [&](std::string_view stage, const auto &text) {
    if (writer.wants(stage))
      status = writer.write(stage, text());
    return writer.isLast(stage) || !status.ok();
  };
  bool isGood = compilation.load();
  bool ends = isGood && compilation.program() &&
              isDone("ast", [&] { return printAst(compilation.program()->main()); });
  isGood = isGood && (ends || compilation.elaborate());
  ends = ends || (isGood && isDone("graph", [&] { return textOf(compilation.module()); }));
  isGood = isGood && (ends || compilation.simplify());
  ends = ends || (isGood && isDone("grad", [&] { return textOf(compilation.module()); }));
  if (isGood && !ends &&
      (arguments.stage == "distributed" || arguments.stage.starts_with(roleStage))) {
    status = emitRoles(compilation, arguments, writer);
    ends = true;
  }
  isGood = isGood && (ends || compilation.split(arguments.replicas));
  // Without replicas there is no such stage, unless somebody asks for it.
  if (isGood && !ends && (arguments.replicas > 1 || arguments.stage == "split"))
    ends = isDone("split", [&] { return textOf(compilation.module()); });
  if (isGood && !ends)
    status = emitNativeStages(compilation, arguments, writer);
  if (int exitCode = compilation.report(); exitCode != 0)
    return exitCode;
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

} // namespace pdg

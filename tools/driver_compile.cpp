// Joins front end, dialect and passes. Whatever IR complains about becomes a message like the front
// end's own, with the source line underlined.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver_compile.h"

#include "passes/pipelines.h"
#include "runtime/base/text.h"
#include "tools/cluster.h"
#include "tools/driver_report.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <filesystem>
#include <iostream>
#include <sstream>

using namespace mlir;

namespace pdg {

Compilation::Compilation(const ProgramArguments &arguments)
    : arguments_(arguments), diagnostics_(sources_), context_(MLIRContext::Threading::DISABLED) {
  options_.constants.insert(arguments.sets.begin(), arguments.sets.end());
  options_.data.scriptDir = std::filesystem::path(arguments.file).parent_path().string();
  options_.data.dataDir = arguments.dataDir;
  context_.getOrLoadDialect<PdgDialect>();
  context_.printOpOnDiagnostic(false); // The source line says more.
  context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    collect(diagnostic);
    return success();
  });
}

void Compilation::setInputs(std::map<std::string, FedInput> inputs,
                            std::vector<std::string> arrays) {
  options_.inputs = std::move(inputs);
  options_.fedArrays = std::move(arrays);
  options_.needsInputs = true;
}

//===- Messages ------------------------------------------------------------===//

/// Takes the code off a message of a pass, "PD0205: expected ..."; most have none.
static DiagCode takeCode(std::string &text) {
  size_t end = text.find(": ");
  std::optional<DiagCode> code =
      end == std::string::npos ? std::nullopt : findCode(text.substr(0, end));
  if (!code)
    return DiagCode::PD1000;
  text.erase(0, end + 2);
  return *code;
}

void Compilation::collect(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  ScriptPlace place = placeOf(diagnostic.getLocation(), sources_);
  std::string text = diagnostic.str();
  DiagCode code = takeCode(text);
  Diagnostic &message = diagnostics_.report(code, place.span, text);
  for (Span call : place.calls)
    message.withSecondary(call, "in the call at");
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    Span span = placeOf(note.getLocation(), sources_).span;
    if (span.isValid())
      message.withSecondary(span, note.str());
    else
      message.withNote(note.str());
  }
}

ExcerptFunction Compilation::excerpts() const {
  return [this](FileLineColRange place) {
    Span span = placeOf(place, sources_).span;
    return span.isValid() ? renderSnippet(span, sources_, {}) : std::string();
  };
}

std::string Compilation::sourceTexts() const {
  std::string texts;
  for (FileId id = 0; id < sources_.size(); ++id)
    texts += sources_.file(id).text();
  return texts;
}

int Compilation::report() const { return reportDiagnostics(diagnostics_, arguments_.format); }

//===- Steps ---------------------------------------------------------------===//

static std::string readStandardInput() {
  std::ostringstream text;
  text << std::cin.rdbuf();
  return text.str();
}

bool Compilation::load() {
  if (isModule())
    return loadModule();
  LoadOptions options;
  options.builtins = builtinNames();
  options.stdlibFolder = defaultStdlibFolder();
  program_ = arguments_.file == "-"
                 ? loadProgramText(sources_, "<stdin>", readStandardInput(), options, diagnostics_)
                 : loadProgram(sources_, arguments_.file, options, diagnostics_);
  return isLoaded();
}

bool Compilation::isLoaded() const {
  // A name that nobody defines poisons what uses it; the rest is still worth checking.
  return program_ && llvm::all_of(diagnostics_.sorted(), [](const Diagnostic &message) {
           return message.severity != Severity::Error || message.code == DiagCode::PD0040;
         });
}

bool Compilation::loadEntry(const std::string &name, const std::string *text,
                            SessionState &session) {
  diagnostics_.clear();
  module_ = {};
  options_.session = &session;
  options_.needsInputs = true;
  options_.data.scriptDir = text ? "" : std::filesystem::path(name).parent_path().string();
  LoadOptions options;
  options.builtins = builtinNames();
  options.stdlibFolder = defaultStdlibFolder();
  options.warnsUnused = false; // A later entry may use the name.
  options.outer = &session.names();
  program_ = text ? loadProgramText(sources_, name, *text, options, diagnostics_)
                  : loadProgram(sources_, name, options, diagnostics_);
  return isLoaded();
}

bool Compilation::loadModule() {
  absl::StatusOr<FileId> file = sources_.load(arguments_.file);
  if (!file.ok()) {
    diagnostics_.report(DiagCode::PD0001, {}, std::string(toStd(file.status().message())));
    return false;
  }
  std::string_view text = sources_.file(*file).text();
  module_ = parseSourceString<ModuleOp>({text.data(), text.size()}, ParserConfig(&context_),
                                        arguments_.file);
  return module_ && !diagnostics_.hasErrors();
}

bool Compilation::hasInput(std::string_view name) const {
  if (!program_)
    return true;
  for (const StmtPtr &stmt : program_->main().stmts)
    if (auto *decl = dynAs<DeclStmt>(stmt.get());
        decl && decl->declKind == DeclKind::Input && decl->decl().name == name)
      return true;
  return false;
}

bool Compilation::elaborate() {
  if (isModule())
    return true;
  module_ = pdg::elaborate(*program_, sources_, diagnostics_, context_, options_);
  return module_ && !diagnostics_.hasErrors();
}

bool Compilation::simplify() {
  PassManager passes(&context_);
  buildGraphPipeline(passes);
  return succeeded(passes.run(*module_)) && !diagnostics_.hasErrors();
}

bool Compilation::cut(const ClusterOptions &options, int64_t replicas) {
  if (!module_->getOps<ModuleOp>().empty())
    return true;
  std::optional<Cluster> cluster = makeCluster(options, sources_, diagnostics_);
  if (!cluster)
    return false;
  PassManager passes(&context_);
  int64_t trainers = cluster->trainers.count;
  if (cluster->mode.mode == ClusterMode::Async || cluster->mode.mode == ClusterMode::Bounded) {
    // Each trainer is served for itself: by programs that know of one.
    Builder b(&context_);
    (*module_)->setAttr(kSessionsAttribute, b.getI64IntegerAttr(trainers));
    cluster->trainers.count = 1;
    buildAsynchronousPipeline(passes, trainers);
  } else {
    // A slice for each device.
    buildDistributedPipeline(passes, trainers,
                             replicas == 1 ? trainers * cluster->devices() : replicas);
  }
  (*module_)->setAttr("pdg.cluster", attributeOf(*cluster, &context_));
  return succeeded(passes.run(*module_)) && !diagnostics_.hasErrors() &&
         checkClusterMemory(*module_, *cluster, diagnostics_);
}

bool Compilation::split(int64_t replicas) {
  if (replicas == 1)
    return true;
  PassManager passes(&context_);
  buildSplitPipeline(passes, replicas);
  return succeeded(passes.run(*module_)) && !diagnostics_.hasErrors();
}

} // namespace pdg

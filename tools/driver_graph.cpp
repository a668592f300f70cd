// `pdc graph`: a stage of the compilation as a drawing.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "tools/driver_compile.h"
#include "tools/driver_report.h"
#include "tools/graph.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>

namespace pdg {

static absl::Status writeText(const std::string &path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? absl::OkStatus()
              : absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
}

absl::StatusOr<std::string> layOutAsSvg(const DotGraph &graph) {
  if (graph.nodes > maxDrawnNodes)
    return absl::InvalidArgumentError(
        absl::StrCat("the graph has ", graph.nodes, " operations, and Graphviz lays out at most ",
                     maxDrawnNodes, " in useful time; write a .dot file"));
  auto dot = llvm::sys::findProgramByName("dot");
  if (!dot)
    return absl::NotFoundError(
        "the program 'dot' is not found; install the package graphviz, or write a .dot file");
  llvm::SmallString<128> input, output;
  if (llvm::sys::fs::createTemporaryFile("pdg", "dot", input) ||
      llvm::sys::fs::createTemporaryFile("pdg", "svg", output))
    return absl::InternalError("cannot make a temporary file");
  absl::Cleanup remove = [&] {
    llvm::sys::fs::remove(input);
    llvm::sys::fs::remove(output);
  };
  if (absl::Status status = writeText(std::string(input), graph.text); !status.ok())
    return status;
  constexpr unsigned secondsAtMost = 60;
  std::string wrong;
  int code = llvm::sys::ExecuteAndWait(*dot, {*dot, "-Tsvg", "-o", output, input}, std::nullopt, {},
                                       secondsAtMost, 0, &wrong);
  if (code == -2)
    return absl::DeadlineExceededError(absl::StrCat(
        "'dot' did not lay out ", graph.nodes, " operations in ", secondsAtMost,
        " seconds; write a .dot file, and lay it out by another program such as sfdp"));
  auto svg = llvm::MemoryBuffer::getFile(output);
  if (code != 0 || !svg)
    return absl::InternalError(absl::StrCat("'dot' failed with status ", code, " ", wrong));
  return (*svg)->getBuffer().str();
}

std::string pageOf(const std::string &svg, const std::string &title) {
  size_t start = svg.find("<svg");
  std::string picture = start == std::string::npos ? svg : svg.substr(start);
  std::string name;
  for (char c : title)
    name += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return absl::StrCat(R"(<!doctype html>
<meta charset="utf-8"><title>)",
                      name, R"(</title>
<style>body { margin: 0; overflow: hidden; font-family: sans-serif }
svg { width: 100vw; height: 100vh; cursor: grab }</style>
)",
                      picture, R"(
<script>
const svg = document.querySelector("svg"), box = svg.viewBox.baseVal
const scale = () => Math.max(box.width / innerWidth, box.height / innerHeight)
svg.addEventListener("wheel", e => {
  e.preventDefault()
  const f = e.deltaY > 0 ? 1.2 : 1 / 1.2
  box.x += box.width * (1 - f) * e.clientX / innerWidth
  box.y += box.height * (1 - f) * e.clientY / innerHeight
  box.width *= f; box.height *= f
}, { passive: false })
svg.addEventListener("mousemove", e => {
  if (e.buttons & 1) { box.x -= e.movementX * scale(); box.y -= e.movementY * scale() }
})
</script>
)");
}

/// Writes the drawing in the form that the file's name asks for.
static absl::Status writeGraph(const DotGraph &graph, const std::string &path,
                               const std::string &title) {
  if (path.ends_with(".dot"))
    return writeText(path, graph.text);
  absl::StatusOr<std::string> svg = layOutAsSvg(graph);
  if (!svg.ok())
    return svg.status();
  return writeText(path, path.ends_with(".html") ? pageOf(*svg, title) : *svg);
}

int graphCommand(const GraphArguments &arguments) {
  Compilation compilation(arguments.program);
  bool isGood = compilation.load() && compilation.elaborate();
  if (arguments.stage != "graph")
    isGood = isGood && compilation.simplify();
  if (arguments.stage == "split")
    isGood = isGood && compilation.split(arguments.replicas);
  if (arguments.stage == "distributed")
    isGood = isGood && compilation.cut(arguments.cluster, arguments.replicas);
  if (int exitCode = compilation.report(); exitCode != 0 || !isGood)
    return exitCode;
  std::string name = std::filesystem::path(arguments.program.file).filename().string();
  std::string title = name + ", stage " + arguments.stage;
  absl::Status status = writeGraph(drawGraph(compilation.module(), title), arguments.output, title);
  return status.ok() ? ExitDone : reportStatus(status, arguments.program.format);
}

} // namespace pdg

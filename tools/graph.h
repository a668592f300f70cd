// Draws modules of the pdg dialect: operations as boxes, values as arrows, what crosses from role
// to role labelled with its bytes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <absl/status/statusor.h>

#include <string>

namespace pdg {

/// A drawing in the language of Graphviz.
struct DotGraph {
  std::string text;
  int64_t nodes = 0;
};

/// Draws a module: a program, or roles as nested modules. Constants and sizes are left out.
DotGraph drawGraph(mlir::ModuleOp module, const std::string &title);

/// The most nodes that Graphviz lays out in a time that somebody would wait.
inline constexpr int64_t maxDrawnNodes = 2000;

/// Lays out a graph by the program `dot`, as an SVG picture. NotFound without that program,
/// ResourceExhausted for more than `maxDrawnNodes` nodes.
absl::StatusOr<std::string> layOutAsSvg(const DotGraph &graph);

/// Makes a page around an SVG picture, which can be moved and zoomed.
std::string pageOf(const std::string &svg, const std::string &title);

/// The bytes of a tensor of this type; of one row if it has sizes that only the run knows, which
/// `isPerRow` then says.
int64_t bytesOf(mlir::Type type, bool &isPerRow);

} // namespace pdg

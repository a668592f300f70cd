// What the runtime must know of a pdg module, and the index of each variable, source, input, text,
// fetch and edge in those tables. The interpreter and the code generator number things by the same
// class, so a run-time error reads the same in both. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "runtime/worker/program_info.h"

#include "mlir/IR/Location.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace pdg {

/// Of an op whose table is a slice of one: `[begin, size]`, where the slice begins in the whole
/// table, and the size of that. A wrong index is reported as an index of the whole table.
inline constexpr llvm::StringLiteral kTableAttribute = "pdg.table";

/// Attribute of a role's module: all edges of the cluster, in the same order in every role. An
/// edge's place in this list is its index.
inline constexpr llvm::StringLiteral kEdgesAttribute = "pdg.edges";

/// Gives the source line of a place with the place underlined, ready to print, or an empty text.
using ExcerptFunction = std::function<std::string(mlir::FileLineColRange place)>;

/// The places of `loc` in the source: the innermost first, then the calls that lead to it.
llvm::SmallVector<mlir::FileLineColRange> placesOf(mlir::Location loc);

/// "model.pdg:12:14", the innermost place of `loc`; empty if it has none.
std::string locationText(mlir::Location loc);

/// The excerpt of the innermost place of `loc`, then those of the calls that lead to it, each after
/// a line "in the call at". Empty without `excerpt`.
std::string excerptText(mlir::Location loc, const ExcerptFunction &excerpt);

/// How tables are made.
struct TableOptions {
  ExcerptFunction excerpt;  ///< May be empty: texts then have no excerpts.
  bool checksNan = false;   ///< Makes a text for each op that computes floats (`--check-nan`).
  bool isCheckOnly = false; ///< Nothing is fed: inputs may have sizes that only a feed tells.
};

/// The tables of one module. Ops are keys: valid as long as the module is not changed.
class ProgramTables {
public:
  /// Makes the tables. Fails with an error at the op if a variable, source or input is used that is
  /// not declared, or not with that type, or if there is not exactly one `pdg.program`.
  static mlir::FailureOr<ProgramTables> build(mlir::ModuleOp module, const TableOptions &options);

  const ProgramInfo &info() const { return info_; }

  /// The program.
  mlir::Operation *program() const { return program_; }
  /// The declarations of the variables, in the order of the table.
  llvm::ArrayRef<mlir::Operation *> variableOps() const { return variableOps_; }

  /// Indices. Requires: what is asked for occurs in the module.
  int64_t variable(mlir::Attribute name) const { return variables_.lookup(name); }
  int64_t source(mlir::Attribute symbol) const { return sources_.lookup(symbol); }
  int64_t input(llvm::StringRef name) const { return inputs_.lookup(name); }
  int64_t fetch(llvm::StringRef name) const { return fetches_.lookup(name); }
  /// The index of an edge or queue: its place among the module's `pdg.edges`.
  int64_t edge(mlir::Attribute edge) const { return edges_.lookup(edge); }

  /// The text of a print or an assert, or of the error that the run check of `op` reports.
  int64_t text(mlir::Operation *op) const { return texts_.lookup(op); }
  /// The text "sizes {} and {} differ" of an op that only the run can check, or -1.
  int64_t mismatchText(mlir::Operation *op) const { return find(mismatchTexts_, op); }
  /// The text of an op that made a NaN, or -1.
  int64_t nanText(mlir::Operation *op) const { return find(nanTexts_, op); }

private:
  using TextIndex = llvm::DenseMap<mlir::Operation *, int64_t>;

  static int64_t find(const TextIndex &texts, mlir::Operation *op) {
    auto found = texts.find(op);
    return found == texts.end() ? -1 : found->second;
  }

  friend class TableBuilder;

  ProgramInfo info_;
  mlir::Operation *program_ = nullptr;
  llvm::SmallVector<mlir::Operation *> variableOps_;
  llvm::DenseMap<mlir::Attribute, int64_t> variables_, sources_, edges_;
  llvm::StringMap<int64_t> inputs_, fetches_;
  TextIndex texts_, mismatchTexts_, nanTexts_;
};

} // namespace pdg

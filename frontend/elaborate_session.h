// What the entries of a session leave for each other: names, instances, values. An entry is
// elaborated as a whole program, in which this state is declared: variables and sources as such,
// tensors as inputs. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate_value.h"
#include "frontend/resolve.h"
#include "ir/ops/variable.h"
#include "runtime/checkpoint/named_tensor.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdg {

/// A tensor that an entry leaves. While the entry runs it has a name and no value.
struct Carried {
  std::string name; ///< Of the fetch that gives the value, and of the input that brings it back.
  std::optional<HostTensor> value;
};

/// The state of a session, and what the running entry adds to it. How an entry goes: checkpoint();
/// load the entry with `names` around it; elaborate it; run it; give each of `pending` its value;
/// then commit(), after an interrupt keepDeclarations() and commit(), after an error restore().
///
/// Requires: one MLIR context for all entries, which outlives the session.
class SessionState {
public:
  SessionState();
  SessionState(const SessionState &) = delete;
  SessionState &operator=(const SessionState &) = delete;
  ~SessionState();

  /// What a failed entry goes back to.
  struct Checkpoint;

  std::shared_ptr<Checkpoint> checkpoint() const;
  /// Undoes all that happened since the checkpoint was made.
  void restore(const Checkpoint &checkpoint);
  /// Drops the names whose values an interrupted entry did not get to compute; what they meant
  /// before counts again.
  void keepDeclarations(const Checkpoint &before);
  /// Keeps what the entry did, and lets go of what nobody can name any more.
  void commit(std::unique_ptr<Program> entry);

  /// The names that the next entry sees.
  const OuterNames &names() const { return names_; }
  /// What a visible name stands for; null for blocks and modules.
  const Datum *find(const Decl &decl) const;
  /// The number of the next entry, from 1. A failed entry does not count.
  int64_t entry() const { return entry_; }

  /// The variables with their values, in the order in which they were made.
  std::vector<TensorRef> variables();
  /// Gives the variable `name` the value that a run left, if there is such a variable.
  void setVariable(const std::string &name, HostTensor value);
  /// How many passes over each source were begun, by the name of the source in the graph.
  const std::map<std::string, int64_t> &passes() const { return passes_; }
  void setPasses(const std::string &source, int64_t passes) { passes_[source] = passes; }

  /// The tensors that the running entry computes for later ones.
  const std::vector<CarriedPtr> &pending() const { return pending_; }
  /// The tensors that earlier entries left, by the name of the input that brings them.
  const std::map<std::string, CarriedPtr> &given() const { return given_; }

  /// Asked for instead of a run: of each bare expression of the entry, what it is.
  bool describes = false;
  std::vector<std::string> descriptions;

private:
  friend class Elaborator;

  /// Makes the names of an entry visible; hides, and drops, what had them.
  void addNames(const FileAst &entry);
  void dropHidden();

  OuterNames names_;
  std::shared_ptr<Frame> frame_; ///< Of the top level of all entries.
  std::map<const FileAst *, std::shared_ptr<Frame>> fileFrames_;
  std::map<const Decl *, const FileAst *> fileOf_;
  std::vector<std::unique_ptr<Variable>> variables_;
  std::map<const Variable *, HostTensor> values_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::map<const Source *, mlir::OwningOpRef<SourceOp>> sourceOps_;
  std::map<std::string, int64_t> passes_;
  std::vector<std::unique_ptr<Program>> programs_;
  int64_t entry_ = 1;
  int64_t carriedCount_ = 0; ///< So far, for their names.

  // Of the running entry.
  std::vector<CarriedPtr> pending_;
  std::map<const Decl *, CarriedPtr> pendingDims_; ///< Dimension variables that the run finds out.
  std::map<std::string, CarriedPtr> given_;
  llvm::DenseMap<mlir::Value, CarriedPtr> carriedOf_;
};

/// Calls `visit` for each name that the top level of a file declares.
void forEachName(const FileAst &file, llvm::function_ref<void(const Decl &)> visit);

/// Replaces every part of the values that the names of `frame` stand for, and of the arguments of
/// instances and blocks, by what `map` makes of it. Parts are what is not a list.
void replaceParts(Frame &frame, llvm::function_ref<Datum(const Datum &)> map);
/// The same for one value.
Datum replaceParts(const Datum &value, llvm::function_ref<Datum(const Datum &)> map);

} // namespace pdg

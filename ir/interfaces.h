// The op interfaces and the small classes that their methods speak in. A pass includes this and no
// op header unless it builds that op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/types.h"
#include "runtime/base/tensor.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <array>
#include <functional>
#include <memory>

namespace pdg {

//===- Sizes ---------------------------------------------------------------===//

/// The sizes of a tensor, one affine expression an axis. A size that only the run knows is a
/// symbol, or an expression of symbols.
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

/// What an op's shape rule reports to: mismatches, and equalities that only the run can check.
class ShapeRule {
public:
  /// `valueOf` gives the expression of a scalar i64 that is a size; by default a new symbol each.
  ShapeRule(mlir::MLIRContext *context, std::optional<mlir::Location> loc,
            std::function<mlir::AffineExpr(mlir::Value)> valueOf = {})
      : context_(context), loc_(loc), valueOf_(std::move(valueOf)) {}

  mlir::MLIRContext *context() const { return context_; }
  mlir::AffineExpr constant(int64_t value) const {
    return mlir::getAffineConstantExpr(value, context_);
  }

  /// A symbol that no other size has.
  mlir::AffineExpr fresh() { return mlir::getAffineSymbolExpr(nextSymbol_++, context_); }

  /// The sizes of a shape argument: `shape` with kDynamic where the next of `sizes` stands.
  Dims shapeArgument(llvm::ArrayRef<int64_t> shape, mlir::ValueRange sizes);

  /// Starts an error at the op and gives failure; silent when there is no location.
  mlir::InFlightDiagnostic error();

  /// The size that both must be: an error when both are known and differ. If only the run can tell,
  /// the pair is collected. `what` names the dimension in the message.
  mlir::FailureOr<mlir::AffineExpr> unify(mlir::AffineExpr a, mlir::AffineExpr b,
                                          llvm::StringRef what);

  /// Pairs of sizes that the run must find equal.
  llvm::ArrayRef<std::pair<mlir::AffineExpr, mlir::AffineExpr>> checks() const { return checks_; }

  /// The first two known sizes that should have been equal and are not.
  std::optional<std::pair<int64_t, int64_t>> conflict() const { return conflict_; }
  void setConflict(int64_t a, int64_t b) { conflict_ = {a, b}; }

private:
  mlir::MLIRContext *context_;
  std::optional<mlir::Location> loc_;
  std::function<mlir::AffineExpr(mlir::Value)> valueOf_;
  unsigned nextSymbol_ = 1u << 20; ///< Far from the symbols of an analysis.
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> checks_;
  std::optional<std::pair<int64_t, int64_t>> conflict_;
};

//===- Gradients -----------------------------------------------------------===//

/// Cotangents of one value, of each use one.
using Contributions = llvm::SmallVector<mlir::Value, 2>;

/// The state of one reverse sweep, as an op's `vjp` sees it.
class Reverse {
public:
  virtual ~Reverse() = default;
  /// The cotangent of `result`, or null when it is zero.
  virtual mlir::Value cotangent(mlir::Value result) = 0;
  /// True if the cotangent of `value` is wanted by anybody.
  virtual bool isActive(mlir::Value value) = 0;
  /// Adds `cotangent` to what `value` has collected, in program order of the uses.
  virtual void add(mlir::Value value, mlir::Value cotangent) = 0;
  /// Sweeps over `block` backwards, the values of which are in scope at `b`, from the cotangents of
  /// its terminator's operands. Returns for each of `wanted` what its uses contribute, in program
  /// order (perhaps nothing).
  virtual mlir::LogicalResult reverseBlock(mlir::OpBuilder &b, mlir::Block &block,
                                           mlir::ValueRange yields, mlir::ValueRange cotangents,
                                           mlir::ValueRange wanted,
                                           llvm::SmallVectorImpl<Contributions> &results) = 0;
};

//===- Sharding ------------------------------------------------------------===//

/// What a factor does to a result when its slices are computed apart.
enum class FactorKind {
  Parallel, ///< The axis is in the result: slices give slices.
  Sum,      ///< The axis is summed: slices give partial sums.
  Leaves,   ///< Operands' terms go to axis 0 of the result: whole leaves give their leaves.
  Max,      ///< The axis is folded by an exact maximum or minimum.
  Whole     ///< The axis must not be split.
};

/// How the axes of operands and results share factors (as in Shardy's OpShardingRule): axis k of
/// operand i has factor `operands[i][k]`, or -1 when the axis is whole.
struct ShardingRule {
  llvm::SmallVector<llvm::SmallVector<int>> operands;
  llvm::SmallVector<llvm::SmallVector<int>> results;
  llvm::SmallVector<FactorKind> kinds;
  bool empty() const { return kinds.empty(); }
};

//===- Reductions and contractions -----------------------------------------===//

/// What joins the elements of a reduction.
enum class ReductionKind { Sum, Max, Min, ArgMax, ArgMin };

/// The index of each axis of an einsum-like product: equal numbers are the same index. Indices of
/// `out` are free, the others are summed.
struct ContractionRule {
  llvm::SmallVector<int> lhs, rhs, out;
  bool leaves =
      false; ///< The first summed index is cut into leaves (meaning of the order of sums).
  /// The summed indices in the order of the first operand's axes.
  llvm::SmallVector<int> summed() const;
};

//===- Checks at run time --------------------------------------------------===//

/// What the elements of an operand must be before an op runs.
struct RunCheck {
  enum Kind { IndexInRange, NotZero } kind = IndexInRange;
  unsigned operand = 0; ///< The operand whose elements are checked.
  unsigned table = 0;   ///< IndexInRange: the operand that is indexed ...
  int64_t axis = 0;     ///< ... along this axis.
};

//===- Code generation -----------------------------------------------------===//

/// A position along one axis while code is built: an i64. With `lanes`, neighbour i of the vector
/// stands at `value + i`; if `value` is itself a vector, each lane has a position of its own.
struct AxisIndex {
  mlir::Value value;
  bool lanes = false;
};

/// What an element op builds its code with.
class ElementContext {
public:
  ElementContext(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  virtual ~ElementContext() = default;
  mlir::OpBuilder &b;
  mlir::Location loc;
  /// The element of operand `operand` at `index`; a vector if an axis has lanes, unless it is the
  /// same in all lanes.
  virtual mlir::Value load(unsigned operand, llvm::ArrayRef<AxisIndex> index) = 0;
  /// The size of axis `axis` of operand `operand`, an i64.
  virtual mlir::Value dim(unsigned operand, int64_t axis) = 0;
  /// The size of axis `axis` of the result, an i64.
  virtual mlir::Value resultDim(int64_t axis) = 0;
  /// `index` as one value: a scalar i64, or a vector of them when the index has lanes.
  virtual mlir::Value materialize(const AxisIndex &index) = 0;
  /// The number of lanes of vectors that are being built; 1 for scalars.
  virtual int64_t lanes() const = 0;
};

/// The function of a program while it is built: control flow between kernels. Values are i64 unless
/// stated; `ctx` is passed by `call`.
class Lowering {
public:
  Lowering(mlir::OpBuilder &b) : b(b) {}
  virtual ~Lowering() = default;
  mlir::OpBuilder &b;
  virtual mlir::Value constant(int64_t value) = 0;
  /// The address of the elements of `tensor`.
  virtual mlir::Value pointer(mlir::Value tensor) = 0;
  /// The sizes of `tensor`.
  virtual llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor) = 0;
  /// The element of a scalar tensor, in a register; and its store.
  virtual mlir::Value loadScalar(mlir::Value tensor) = 0;
  virtual void storeScalar(mlir::Value element, mlir::Value tensor) = 0;
  /// Copies tensors to the places of others, as if all at once.
  virtual void copy(mlir::ValueRange from, mlir::ValueRange to) = 0;
  /// Copies `row` to position `at` of axis 0 of `table`; nothing if there is no such position.
  virtual void copyRow(mlir::Value row, mlir::Value table, mlir::Value at) = 0;
  /// Calls a function of runtime/abi.def; `arguments` follow `ctx`.
  virtual mlir::Value call(llvm::StringRef name, mlir::ValueRange arguments) = 0;
  /// Returns from the program if `status` is not zero.
  virtual void stopIf(mlir::Value status) = 0;
  /// Control flow: new blocks follow each other; `enter` moves the builder to a block's end.
  virtual mlir::Block *newBlock(unsigned counters = 0) = 0;
  virtual void enter(mlir::Block *block) = 0;
  virtual void branch(mlir::Block *to, mlir::ValueRange counters = {}) = 0;
  virtual void branchIf(mlir::Value condition, mlir::Block *then, mlir::Block *otherwise) = 0;
  /// Builds the ops of `block`, without its terminator.
  virtual mlir::LogicalResult lowerBlock(mlir::Block &block) = 0;
  /// Tables on the stack for ABI calls: addresses and sizes of tensors, or room for `count` words.
  virtual mlir::Value addressTable(mlir::ValueRange tensors) = 0;
  virtual mlir::Value sizeTable(mlir::ValueRange tensors) = 0;
  virtual mlir::Value room(int64_t count) = 0;
  /// The word at `index` of a table, as an address or an i64.
  virtual mlir::Value loadAddress(mlir::Value table, int64_t index) = 0;
  virtual mlir::Value loadWord(mlir::Value table, int64_t index) = 0;
  /// Says where the elements of `tensor` are; says how many examples its axis 0 has.
  virtual void setPointer(mlir::Value tensor, mlir::Value address) = 0;
  virtual void setBatch(mlir::Value tensor, mlir::Value examples) = 0;
  /// Copies a value to its variable, unless it was computed there.
  virtual void assign(mlir::Operation *assign, mlir::Attribute name, mlir::Value value) = 0;
  virtual void read(mlir::Attribute name, mlir::Value result) = 0;
  /// Indices in the program's tables.
  virtual mlir::Value textSite(mlir::Operation *op) = 0;
  virtual mlir::Value fetchSite(llvm::StringRef name) = 0;
  virtual mlir::Value sourceIndex(mlir::Attribute source) = 0;
  virtual mlir::Value inputIndex(llvm::StringRef name) = 0;
  virtual mlir::Value edgeIndex(mlir::Attribute edge) = 0;
};

//===- Interpretation ------------------------------------------------------===//

using SharedTensor = std::shared_ptr<const HostTensor>;

/// One execution of one op by the reference interpreter.
class Evaluation {
public:
  virtual ~Evaluation() = default;
  virtual const HostTensor &operand(unsigned i) = 0;
  virtual SharedTensor operandRef(unsigned i) = 0;
  /// Allocates result `i` with `shape` and the element type of the result.
  virtual HostTensor &result(unsigned i, llvm::ArrayRef<int64_t> shape) = 0;
  virtual void setResult(unsigned i, SharedTensor value) = 0;
  /// Runs `block` with `arguments`; gives the operands of its terminator.
  virtual mlir::FailureOr<llvm::SmallVector<SharedTensor>>
  run(mlir::Block &block, llvm::ArrayRef<SharedTensor> arguments) = 0;
  /// A scalar i64.
  virtual SharedTensor scalar(int64_t value) = 0;
  /// The value of a variable; a change of the variable does not change what was read.
  virtual SharedTensor read(mlir::Attribute name) = 0;
  virtual mlir::LogicalResult assign(mlir::Attribute name, SharedTensor value) = 0;
  /// Begins a pass over a source; the next batch of it, no fields at the end.
  virtual mlir::LogicalResult openPass(mlir::Attribute source) = 0;
  virtual mlir::FailureOr<llvm::SmallVector<SharedTensor>> nextBatch(mlir::Attribute source) = 0;
  virtual mlir::FailureOr<int64_t> sourceSize(mlir::Attribute source) = 0;
  /// A tensor that is fed from outside.
  virtual mlir::FailureOr<SharedTensor> input(llvm::StringRef name) = 0;
  virtual int64_t seed() = 0;
  /// The number of this process among those of its role.
  virtual int64_t replica() = 0;
  /// Hands a value to an edge; takes the next message of an edge from process `from` of its role.
  virtual mlir::LogicalResult send(mlir::Attribute edge, SharedTensor value) = 0;
  virtual mlir::FailureOr<SharedTensor> receive(mlir::Attribute edge, int64_t from) = 0;
  /// Puts a value into a queue of this process, and takes the first one.
  virtual mlir::LogicalResult enqueue(mlir::Attribute queue, int64_t capacity,
                                      SharedTensor value) = 0;
  virtual mlir::FailureOr<SharedTensor> dequeue(mlir::Attribute queue) = 0;
  /// Stops the run: `text` says why, the op where.
  virtual mlir::LogicalResult refuse(llvm::StringRef text) = 0;
  /// Prints this op's text with `values`; returns a value to whoever runs the program.
  virtual mlir::LogicalResult print(llvm::ArrayRef<SharedTensor> values) = 0;
  virtual mlir::LogicalResult fetch(llvm::StringRef name, SharedTensor value) = 0;
  /// Stops the run with this op's error text and the values in it.
  virtual mlir::LogicalResult fail(llvm::ArrayRef<SharedTensor> values) = 0;
  /// Stops the run because the sizes of two operands do not fit.
  virtual mlir::LogicalResult mismatch(const HostTensor &a, const HostTensor &b) = 0;
};

} // namespace pdg

#include "ir/interfaces.h.inc"

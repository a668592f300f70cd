// Builds ops for the elaborator: places, messages, constants, casts and broadcasting. Knows tensors
// but no syntax. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/diagnostics.h"
#include "frontend/source.h"
#include "ir/dialect.h"
#include "ir/dims.h"
#include "runtime/base/dtype.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace pdg {

/// A shape argument of an op: kDynamic where the next of `sizes` stands.
struct ShapeArg {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::Value> sizes;
};

/// A tensor with the place it came from.
struct TensorOperand {
  mlir::Value value;
  Span span;
};

class Emitter {
public:
  Emitter(const SourceManager &sources, DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

  mlir::OpBuilder b;
  ShapeAnalysis shapes;

  //===- Places and messages -----------------------------------------------===//

  /// The location of ops built for `span`, with the calls around it.
  mlir::Location loc(Span span);
  /// The place that `location` stands for.
  Span spanOf(mlir::Location location) const;
  /// Enters and leaves the application of the block `name` at `span`.
  void pushCall(Span span, std::string name);
  void popCall();
  size_t callDepth() const { return calls_.size(); }
  /// Reports an error with the calls around it. The reference is valid until the next report.
  Diagnostic &error(DiagCode code, Span span, std::string message);

  /// Says that a file belongs to the library: its errors are shown where the user called it.
  void addLibraryFile(FileId file) { libraryFiles_.insert(file); }
  bool isInLibrary(Span span) const { return libraryFiles_.contains(span.file); }

  /// What MLIR said last.
  std::string lastRefusal() const { return refusals_.empty() ? "" : refusals_.back(); }

  //===- Ops ---------------------------------------------------------------===//

  /// Builds an op with one result. If its shape rule or verifier refuses, reports that at `span`
  /// and gives null.
  template <class OpTy, class... Args> mlir::Value make(Span span, Args &&...args) {
    mlir::OperationState state(loc(span), OpTy::getOperationName());
    OpTy::build(b, state, scalarType(DType::F32), std::forward<Args>(args)...);
    state.types.clear();
    return finish(state, span, &OpTy::inferReturnTypes);
  }

  mlir::Type elementOf(DType dtype) { return elementType(b.getContext(), dtype); }
  mlir::Type scalarType(DType dtype) { return mlir::RankedTensorType::get({}, elementOf(dtype)); }

  mlir::Value constant(int64_t value, DType dtype, Span span);
  mlir::Value constant(double value, DType dtype, Span span);
  /// `value` with another element type; no op if it has it.
  mlir::Value cast(mlir::Value value, DType dtype, Span span);
  /// The size of an axis as a scalar i64.
  mlir::Value sizeOf(mlir::Value value, int64_t axis, Span span);
  /// The product of the sizes of `axes` as a scalar i64.
  mlir::Value countOf(mlir::Value value, llvm::ArrayRef<int64_t> axes, Span span);
  /// The sizes of `value` as a shape argument.
  ShapeArg shapeOf(mlir::Value value, Span span);
  /// `value` in the given shape; no op if it has it.
  mlir::Value broadcast(mlir::Value value, const ShapeArg &shape, Span span);
  /// Brings all to one shape by NumPy's rule; only a size that is 1 when compiling is repeated.
  /// An expression of the script as `pdc fmt` writes it.
  std::string textOf(Span expr) const;
  /// False, with an error at `span`, if the shapes do not fit.
  bool broadcastAll(llvm::MutableArrayRef<TensorOperand> operands, Span span);
  /// Applies a two-operand op to operands of one element type, in one shape.
  template <class OpTy> mlir::Value binary(mlir::Value x, mlir::Value y, Span span) {
    TensorOperand operands[] = {{x, span}, {y, span}};
    return broadcastAll(operands, span) ? make<OpTy>(span, operands[0].value, operands[1].value)
                                        : mlir::Value();
  }

  //===- Types -------------------------------------------------------------===//

  static DType dtypeOf(mlir::Value value);
  static int64_t rankOf(mlir::Value value);
  static mlir::RankedTensorType typeOf(mlir::Value value);
  /// The value of a tensor that is a constant with one number in it, or nothing.
  static std::optional<int64_t> constantInt(mlir::Value value);
  /// Gives the size `size` a name in messages.
  void nameSize(mlir::AffineExpr size, const std::string &name);
  std::string sizeText(mlir::AffineExpr size) const;
  /// A type as scripts write it: "f32[N, 784]".
  std::string typeText(DType dtype, llvm::ArrayRef<mlir::AffineExpr> dims) const;
  std::string typeText(mlir::Value value);
  std::string typeText(mlir::RankedTensorType type) const;

private:
  using InferTypes = mlir::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>,
                                             mlir::ValueRange, mlir::DictionaryAttr,
                                             mlir::OpaqueProperties, mlir::RegionRange,
                                             llvm::SmallVectorImpl<mlir::Type> &);
  mlir::Value finish(mlir::OperationState &state, Span span, InferTypes infer);
  void reportRefusal(mlir::OperationState &state, Span span);

  struct Call {
    Span span;
    std::string name;
    mlir::Location location;
  };

  const SourceManager &sources_;
  DiagnosticEngine &diagnostics_;
  std::vector<Call> calls_;
  std::set<FileId> libraryFiles_;
  std::vector<std::pair<mlir::AffineExpr, std::string>> sizeNames_;
  std::vector<std::string> refusals_; ///< What MLIR said since the op was begun.
  mlir::ScopedDiagnosticHandler handler_;
};

/// True for types that are stored and converted, but not computed with.
inline bool isStorageType(DType dtype) {
  return dtype == DType::BF16 || dtype == DType::F16 || dtype == DType::I8;
}

/// What to do with such types.
extern const char *const StorageHint;

/// True if a tensor of this shape is larger than any memory.
bool isTooManyElements(llvm::ArrayRef<int64_t> shape);

/// The size as a number, if it is known when compiling.
std::optional<int64_t> knownSize(mlir::AffineExpr size);

} // namespace pdg

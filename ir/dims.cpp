// Computes sizes of values by asking the shape rule of each op once.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dims.h"
#include "ir/ops/control.h"
#include "ir/ops/part.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {

//===- ShapeRule -----------------------------------------------------------===//

InFlightDiagnostic ShapeRule::error() {
  return emitError(loc_ ? *loc_ : UnknownLoc::get(context_));
}

FailureOr<AffineExpr> ShapeRule::unify(AffineExpr a, AffineExpr b, StringRef what) {
  if (a == b)
    return a;
  auto constantA = dyn_cast<AffineConstantExpr>(a), constantB = dyn_cast<AffineConstantExpr>(b);
  if (constantA && constantB) {
    if (!conflict_)
      conflict_ = {constantA.getValue(), constantB.getValue()};
    error() << "expects equal sizes for dimension '" << what << "', got " << constantA.getValue()
            << " and " << constantB.getValue();
    return failure();
  }
  checks_.emplace_back(a, b);
  return constantB ? b : a;
}

Dims ShapeRule::shapeArgument(ArrayRef<int64_t> shape, ValueRange sizes) {
  Dims dims;
  for (int64_t size : shape) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(constant(size));
      continue;
    }
    dims.push_back(valueOf_ ? valueOf_(sizes.front()) : fresh());
    sizes = sizes.drop_front();
  }
  return dims;
}

//===- ShapeAnalysis -------------------------------------------------------===//

/// The sizes that `op` gives by its rule, reported to `rule`; failure if its operands never fit,
/// which is said when the op runs.
static FailureOr<Dims> inferSilently(DimsOpInterface op, ArrayRef<Dims> operands, ShapeRule &rule) {
  ScopedDiagnosticHandler silence(op.getContext(), [](Diagnostic &) { return success(); });
  return op.inferDims(operands, rule);
}

Dims ShapeAnalysis::dimsOf(Value value) {
  auto found = dims_.find(value);
  if (found != dims_.end())
    return found->second;
  Dims dims = compute(value);
  dims_[value] = dims;
  return dims;
}

AffineExpr ShapeAnalysis::newSymbol(SizeSymbol symbol, MLIRContext *context) {
  symbols_.push_back(symbol);
  return getAffineSymbolExpr(symbols_.size() - 1, context);
}

Dims ShapeAnalysis::compute(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = value.getContext();
  if (type.hasStaticShape()) {
    Dims dims;
    for (int64_t size : type.getShape())
      dims.push_back(getAffineConstantExpr(size, context));
    return dims;
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument);
  Operation *op = value.getDefiningOp();
  if (auto rule = dyn_cast<DimsOpInterface>(op)) {
    SmallVector<Dims> operands;
    for (Value operand : op->getOperands())
      operands.push_back(dimsOf(operand));
    ShapeRule report(context, std::nullopt, [&](Value scalar) { return valueOf(scalar); });
    if (auto dims = inferSilently(rule, operands, report); succeeded(dims))
      return *dims;
    // The run stops before the op: its result never exists.
    if (report.conflict())
      return llvm::map_to_vector<4>(type.getShape(), [&](int64_t size) {
        return getAffineConstantExpr(ShapedType::isDynamic(size) ? 0 : size, context);
      });
  }
  // Results of loops and conditions have the sizes of what they were given or yield first.
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<LoopOpInterface>(op))
    return dimsOf(loop.getInit(index));
  if (auto fused = dyn_cast<FusedOp>(op))
    return dimsOf(fused.getBody().front().getTerminator()->getOperand(index));
  if (auto branch = dyn_cast<IfOp>(op))
    return dimsOf(branch.getThenRegion().front().getTerminator()->getOperand(index));
  Dims dims;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    dims.push_back(ShapedType::isDynamic(size) ? newSymbol({value, false, 0}, context)
                                               : getAffineConstantExpr(size, context));
  return dims;
}

Dims ShapeAnalysis::computeArgument(BlockArgument argument) {
  MLIRContext *context = argument.getContext();
  auto type = cast<RankedTensorType>(argument.getType());
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  auto loop = cast<LoopOpInterface>(parent);
  if (index >= loop.getNumLeading())
    return dimsOf(loop.getInit(index - loop.getNumLeading()));
  if (auto forEach = dyn_cast<ForEachOp>(parent)) {
    // All fields of a batch have the same number of examples: the first one's symbol.
    Value first = argument.getOwner()->getArgument(1);
    AffineExpr batch = first == argument
                           ? newSymbol({first, false, forEach.getBatchBound()}, context)
                           : dimsOf(first).front();
    Dims dims{batch};
    for (int64_t size : type.getShape().drop_front())
      dims.push_back(getAffineConstantExpr(size, context));
    return dims;
  }
  llvm_unreachable("counters are scalars");
}

/// The largest value that whoever made the op knows (kBoundAttribute), or 0.
static int64_t givenBound(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  auto bound = op ? op->getAttrOfType<IntegerAttr>(kBoundAttribute) : IntegerAttr();
  return bound ? bound.getInt() : 0;
}

AffineExpr ShapeAnalysis::valueOf(Value scalar) {
  auto found = scalars_.find(scalar);
  if (found != scalars_.end())
    return found->second;
  AffineExpr expr = computeScalar(scalar);
  if (!expr) {
    // Where a part of an axis begins is inside of it.
    auto part = scalar.getDefiningOp<PartBeginOp>();
    int64_t bound = part ? boundOf(valueOf(part.getN())).value_or(0) : givenBound(scalar);
    expr = newSymbol({scalar, true, bound}, scalar.getContext());
  }
  scalars_[scalar] = expr;
  return expr;
}

/// The value of a result of a fused op, if it can be said by values outside of it.
AffineExpr ShapeAnalysis::computeFused(FusedOp fused, OpResult result) {
  Region &body = fused.getBody();
  AffineExpr expr = valueOf(body.front().getTerminator()->getOperand(result.getResultNumber()));
  bool isInside = false;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    isInside |= symbol && body.isAncestor(symbols_[symbol.getPosition()].value.getParentRegion());
  });
  return isInside ? AffineExpr() : expr;
}

AffineExpr ShapeAnalysis::computeScalar(Value scalar) {
  Attribute value;
  if (matchPattern(scalar, m_Constant(&value)))
    return getAffineConstantExpr(
        cast<DenseElementsAttr>(value).getSplatValue<APInt>().getSExtValue(), scalar.getContext());
  if (auto fused = scalar.getDefiningOp<FusedOp>())
    return computeFused(fused, cast<OpResult>(scalar));
  auto op = scalar.getDefiningOp<SizeOpInterface>();
  if (!op)
    return nullptr;
  SmallVector<AffineExpr> values;
  SmallVector<Dims> dims;
  for (Value operand : op->getOperands()) {
    values.push_back(isSizeTensor(operand.getType()) ? valueOf(operand) : AffineExpr());
    dims.push_back(dimsOf(operand));
  }
  return op.inferValue(values, dims);
}

SmallVector<std::pair<AffineExpr, AffineExpr>> ShapeAnalysis::checksOf(Operation *op) {
  auto rule = dyn_cast<DimsOpInterface>(op);
  if (!rule)
    return {};
  SmallVector<Dims> operands;
  for (Value operand : op->getOperands())
    operands.push_back(dimsOf(operand));
  ShapeRule report(op->getContext(), std::nullopt, [&](Value scalar) { return valueOf(scalar); });
  LogicalResult fits = inferSilently(rule, operands, report);
  auto checks = llvm::to_vector(report.checks());
  // Sizes that are known to differ are found by the run too, if it comes here.
  if (failed(fits) && report.conflict())
    checks.push_back(
        {report.constant(report.conflict()->first), report.constant(report.conflict()->second)});
  return checks;
}

/// The largest value of `size`; sizes grow with their symbols, but for differences, of which the
/// first term is a bound.
static std::optional<int64_t> upperBound(AffineExpr size, ArrayRef<SizeSymbol> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size)) {
    if (symbol.getPosition() >= symbols.size() || !symbols[symbol.getPosition()].bound)
      return std::nullopt;
    return symbols[symbol.getPosition()].bound;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(size);
  if (!binary)
    return std::nullopt;
  // A remainder is below its divisor, whatever is divided.
  if (binary.getKind() == AffineExprKind::Mod) {
    auto divisor = upperBound(binary.getRHS(), symbols);
    return divisor && *divisor > 0 ? std::optional(*divisor - 1) : std::nullopt;
  }
  auto lhs = upperBound(binary.getLHS(), symbols);
  if (!lhs)
    return std::nullopt;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mul && factor && factor.getValue() < 0)
    return 0;
  auto rhs = upperBound(binary.getRHS(), symbols);
  if (!rhs)
    return std::nullopt;
  int64_t result = 0;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(*lhs / *rhs) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *rhs > 0 ? std::optional((*lhs + *rhs - 1) / *rhs) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> ShapeAnalysis::boundOf(AffineExpr size) const {
  return upperBound(size, symbols_);
}

std::optional<int64_t> ShapeAnalysis::elementBoundOf(Value value) {
  int64_t product = 1;
  for (AffineExpr size : dimsOf(value)) {
    auto bound = boundOf(size);
    if (!bound || llvm::MulOverflow(product, *bound, product))
      return std::nullopt;
  }
  return product;
}

SmallVector<int64_t> staticShape(ArrayRef<AffineExpr> dims) {
  return llvm::map_to_vector(dims, [](AffineExpr size) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    return constant ? constant.getValue() : ShapedType::kDynamic;
  });
}

AffineExpr productOf(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr size : dims)
    product = product * size;
  return product;
}

} // namespace pdg

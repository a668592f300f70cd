// Places, messages, constants, casts and broadcasting.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate_emit.h"
#include "frontend/elaborate.h"
#include "frontend/format.h"
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace pdg {

/// Longer chains of calls are cut in messages.
static constexpr size_t MaxShownCalls = 6;

Emitter::Emitter(const SourceManager &sources, DiagnosticEngine &diagnostics, MLIRContext &context)
    : b(&context), sources_(sources), diagnostics_(diagnostics),
      handler_(&context, [this](mlir::Diagnostic &diagnostic) {
        refusals_.push_back(diagnostic.str());
        return success();
      }) {}

//===- Places and messages -------------------------------------------------===//

Location Emitter::loc(Span span) {
  Location result = UnknownLoc::get(b.getContext());
  if (span.isValid()) {
    const SourceFile &file = sources_.file(span.file);
    LineColumn begin = file.lineColumn(span.begin), end = file.lineColumn(span.end);
    result = FileLineColRange::get(StringAttr::get(b.getContext(), file.path()), begin.line,
                                   begin.column, end.line, end.column);
  }
  return calls_.empty() ? result : CallSiteLoc::get(result, calls_.back().location);
}

void Emitter::pushCall(Span span, std::string name) {
  Location location = loc(span);
  calls_.push_back({span, std::move(name), location});
}

void Emitter::popCall() { calls_.pop_back(); }

Diagnostic &Emitter::error(DiagCode code, Span span, std::string message) {
  // The call of the user's that led into the library, if the place is there.
  size_t skipped = 0;
  if (isInLibrary(span))
    while (skipped < calls_.size() && isInLibrary(calls_[calls_.size() - 1 - skipped].span))
      ++skipped;
  bool hasUserCall = isInLibrary(span) && skipped < calls_.size();
  Span place = hasUserCall ? calls_[calls_.size() - 1 - skipped].span : span;
  Diagnostic &diagnostic = diagnostics_.report(code, place, std::move(message));
  if (hasUserCall)
    diagnostic.withSecondary(
        span, absl::StrCat("here, in '", calls_[calls_.size() - 1 - skipped].name, "'"));
  size_t shown = std::min(calls_.size() - skipped, MaxShownCalls);
  for (size_t i = 0; i < shown; ++i) {
    const Call &call = calls_[calls_.size() - 1 - skipped - i];
    if (!(call.span == place))
      diagnostic.withSecondary(call.span, absl::StrCat("in the call of '", call.name, "'"));
  }
  return diagnostic;
}

/// The byte offset of a line and column, as SourceFile counts them.
static uint32_t offsetOf(const SourceFile &file, unsigned line, unsigned column) {
  line = std::clamp<unsigned>(line, 1, file.lineCount());
  std::string_view text = file.lineText(line);
  size_t offset = 0;
  for (unsigned i = 1; i < column && offset < text.size(); ++i)
    decodeUtf8(text, offset);
  return file.lineStart(line) + offset;
}

ScriptPlace placeOf(Location location, const SourceManager &sources) {
  ScriptPlace place;
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    place = placeOf(call.getCallee(), sources);
    ScriptPlace caller = placeOf(call.getCaller(), sources);
    if (caller.span.isValid())
      place.calls.push_back(caller.span);
    place.calls.insert(place.calls.end(), caller.calls.begin(), caller.calls.end());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (place = placeOf(part, sources); place.span.isValid())
        break;
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    place = placeOf(name.getChildLoc(), sources);
  } else if (auto range = dyn_cast<FileLineColRange>(location)) {
    // A session reads a file again when it has changed: the last text of a name counts.
    for (FileId id = static_cast<FileId>(sources.size()); id-- > 0;) {
      const SourceFile &file = sources.file(id);
      if (range.getFilename().getValue() != file.path())
        continue;
      place.span = {id, offsetOf(file, range.getStartLine(), range.getStartColumn()),
                    offsetOf(file, range.getEndLine(), range.getEndColumn())};
      break;
    }
  }
  return place;
}

Span Emitter::spanOf(Location location) const { return placeOf(location, sources_).span; }

//===- Ops -----------------------------------------------------------------===//

Value Emitter::finish(OperationState &state, Span span, InferTypes infer) {
  refusals_.clear();
  SmallVector<Type> types;
  LogicalResult inferred = infer(b.getContext(), state.location, state.operands,
                                 state.attributes.getDictionary(b.getContext()),
                                 state.getRawProperties(), state.regions, types);
  if (failed(inferred)) {
    reportRefusal(state, span);
    return {};
  }
  if (isTooManyElements(llvm::cast<RankedTensorType>(types.front()).getShape())) {
    error(DiagCode::PD0101, span, "the result has too many elements")
        .withNote(
            absl::StrCat("it would be ", typeText(llvm::cast<RankedTensorType>(types.front()))));
    return {};
  }
  state.addTypes(types);
  Operation *op = b.create(state);
  if (succeeded(verify(op, /*verifyRecursively=*/false)))
    return op->getResult(0);
  reportRefusal(state, span);
  return {};
}

const char *const StorageHint =
    "bf16, f16 and i8 only store numbers: convert them first, for example with f32(...)";

void Emitter::reportRefusal(OperationState &state, Span span) {
  for (Value operand : state.operands)
    if (isStorageType(dtypeOf(operand))) {
      error(DiagCode::PD0100, span,
            absl::StrCat("nothing is computed with ", std::string(nameOf(dtypeOf(operand))),
                         ", found ", typeText(operand)))
          .withHint(StorageHint);
      return;
    }
  std::string op = state.name.stripDialect().str();
  std::string text = refusals_.empty() ? "the operands do not fit" : refusals_.front();
  std::string prefix = absl::StrCat("'pdg.", op, "' op ");
  if (text.starts_with(prefix))
    text = text.substr(prefix.size());
  std::string operands;
  for (Value operand : state.operands)
    absl::StrAppend(&operands, operands.empty() ? "" : " and ", typeText(operand));
  Diagnostic &diagnostic = error(DiagCode::PD0101, span, absl::StrCat(op, " ", text));
  if (!operands.empty())
    diagnostic.withNote(absl::StrCat("its operands are ", operands));
}

Value Emitter::constant(int64_t value, DType dtype, Span span) {
  if (isStorageType(dtype))
    return cast(constant(value, isFloat(dtype) ? DType::F64 : DType::I64, span), dtype, span);
  Type element = elementOf(dtype);
  Attribute attribute =
      isa<FloatType>(element)
          ? Attribute(b.getFloatAttr(element, static_cast<double>(value)))
          : Attribute(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), value,
                                                      /*isSigned=*/false, /*implicitTrunc=*/true)));
  return ConstantOp::create(b, loc(span),
                            DenseElementsAttr::get(RankedTensorType::get({}, element), attribute));
}

Value Emitter::constant(double value, DType dtype, Span span) {
  if (isStorageType(dtype))
    return cast(constant(value, DType::F64, span), dtype, span);
  Attribute attribute = b.getFloatAttr(elementOf(dtype), value);
  return ConstantOp::create(
      b, loc(span),
      DenseElementsAttr::get(llvm::cast<RankedTensorType>(scalarType(dtype)), attribute));
}

Value Emitter::cast(Value value, DType dtype, Span span) {
  return dtypeOf(value) == dtype ? value : make<CastOp>(span, value, elementOf(dtype));
}

Value Emitter::sizeOf(Value value, int64_t axis, Span span) {
  int64_t size = typeOf(value).getDimSize(axis);
  return ShapedType::isDynamic(size) ? make<DimOp>(span, value, axis)
                                     : constant(size, DType::I64, span);
}

Value Emitter::countOf(Value value, ArrayRef<int64_t> axes, Span span) {
  int64_t known = 1;
  Value product;
  for (int64_t axis : axes) {
    int64_t size = typeOf(value).getDimSize(axis);
    if (!ShapedType::isDynamic(size)) {
      known *= size;
      continue;
    }
    Value dim = make<DimOp>(span, value, axis);
    product = product ? make<MulOp>(span, product, dim) : dim;
  }
  if (!product)
    return constant(known, DType::I64, span);
  return known == 1 ? product : make<MulOp>(span, product, constant(known, DType::I64, span));
}

ShapeArg Emitter::shapeOf(Value value, Span span) {
  ShapeArg result;
  for (int64_t axis = 0; axis < rankOf(value); ++axis) {
    int64_t size = typeOf(value).getDimSize(axis);
    result.shape.push_back(size);
    if (ShapedType::isDynamic(size))
      result.sizes.push_back(make<DimOp>(span, value, axis));
  }
  return result;
}

Value Emitter::broadcast(Value value, const ShapeArg &shape, Span span) {
  if (shape.sizes.empty() && typeOf(value).getShape() == ArrayRef(shape.shape))
    return value;
  return make<BroadcastOp>(span, value, shape.sizes, shape.shape);
}

/// One axis of a common shape: its size, and the operand that has it.
namespace {
struct CommonAxis {
  AffineExpr size;
  Value tensor;
  int64_t axis = 0;
};
} // namespace

bool Emitter::broadcastAll(MutableArrayRef<TensorOperand> operands, Span span) {
  SmallVector<CommonAxis> common; // from the last axis on
  AffineExpr one = b.getAffineConstantExpr(1);
  for (TensorOperand &operand : operands) {
    Dims dims = shapes.dimsOf(operand.value);
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t axis = dims.size() - 1 - i;
      CommonAxis own{dims[axis], operand.value, axis};
      if (i == common.size()) {
        common.push_back(own);
        continue;
      }
      CommonAxis &shared = common[i];
      if (shared.size == own.size || own.size == one)
        continue;
      bool ownIsKnown = knownSize(own.size).has_value();
      if (shared.size == one || (ownIsKnown && !knownSize(shared.size))) {
        shared = own;
      } else if (ownIsKnown) {
        Diagnostic &diagnostic = error(DiagCode::PD0101, span, "these shapes do not fit together");
        for (TensorOperand &each : operands)
          diagnostic.withSecondary(each.span, absl::StrCat("this is ", typeText(each.value)));
        diagnostic.withNote(
            "axes are matched from the last; sizes must be equal, or one of them 1");
        return false;
      }
    }
  }
  for (TensorOperand &operand : operands) {
    Dims dims = shapes.dimsOf(operand.value);
    bool isSame = dims.size() == common.size();
    for (size_t i = 0; isSame && i < dims.size(); ++i)
      isSame = dims[dims.size() - 1 - i] == common[i].size;
    if (isSame)
      continue;
    ShapeArg shape;
    for (CommonAxis &axis : llvm::reverse(common)) {
      auto known = knownSize(axis.size);
      shape.shape.push_back(known ? *known : ShapedType::kDynamic);
      if (!known)
        shape.sizes.push_back(make<DimOp>(span, axis.tensor, axis.axis));
    }
    operand.value = broadcast(operand.value, shape, span);
    if (!operand.value)
      return false;
  }
  return true;
}

//===- Types ---------------------------------------------------------------===//

DType Emitter::dtypeOf(Value value) { return *toDType(value.getType()); }
int64_t Emitter::rankOf(Value value) { return typeOf(value).getRank(); }

RankedTensorType Emitter::typeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

std::optional<int64_t> Emitter::constantInt(Value value) {
  DenseElementsAttr attribute;
  if (rankOf(value) != 0 || !isa<IntegerType>(getElementTypeOrSelf(value.getType())) ||
      !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  bool isUnsigned = dtypeOf(value) == DType::U8 || dtypeOf(value) == DType::Bool;
  APInt number = attribute.getSplatValue<APInt>();
  return isUnsigned ? static_cast<int64_t>(number.getZExtValue()) : number.getSExtValue();
}

bool isTooManyElements(ArrayRef<int64_t> shape) {
  constexpr int64_t MaxElements = int64_t{1} << 44;
  int64_t product = 1;
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(product, std::max<int64_t>(size, 1), product) || product > MaxElements))
      return true;
  return false;
}

std::optional<int64_t> knownSize(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

std::string Emitter::textOf(Span expr) const { return formatExpression(sources_.text(expr)); }

void Emitter::nameSize(AffineExpr size, const std::string &name) {
  if (!knownSize(size) && sizeText(size) == "?")
    sizeNames_.emplace_back(size, name);
}

std::string Emitter::sizeText(AffineExpr size) const {
  if (auto known = knownSize(size))
    return absl::StrCat(*known);
  for (const auto &[named, name] : sizeNames_)
    if (named == size)
      return name;
  return "?";
}

std::string Emitter::typeText(DType dtype, ArrayRef<AffineExpr> dims) const {
  std::string result(nameOf(dtype));
  for (size_t i = 0; i < dims.size(); ++i)
    absl::StrAppend(&result, i ? ", " : "[", sizeText(dims[i]));
  return dims.empty() ? result : result + "]";
}

std::string Emitter::typeText(Value value) {
  return typeText(dtypeOf(value), shapes.dimsOf(value));
}

std::string Emitter::typeText(RankedTensorType type) const {
  Dims dims;
  for (int64_t size : type.getShape())
    dims.push_back(ShapedType::isDynamic(size) ? getAffineSymbolExpr(1u << 30, type.getContext())
                                               : getAffineConstantExpr(size, type.getContext()));
  return typeText(*toDType(type), dims);
}

} // namespace pdg

// Lists of numbers as tensors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {

/// Collects the numbers of nested lists; false if they do not form a box.
static bool collectNumbers(const Datum &value, size_t depth, SmallVectorImpl<int64_t> &shape,
                           std::vector<Datum> &numbers) {
  auto *sequence = value.get<SequencePtr>();
  if (!sequence) {
    numbers.push_back(value);
    return depth == shape.size() && (value.isNumber() || value.is<bool>());
  }
  int64_t size = (*sequence)->elements.size();
  if (numbers.empty() && depth == shape.size())
    shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size)
    return false;
  return llvm::all_of((*sequence)->elements, [&](const Datum &each) {
    return collectNumbers(each, depth + 1, shape, numbers);
  });
}

Value Elaborator::tensorOfList(const Operand &list, std::optional<DType> type) {
  if (list.value.isPoison())
    return {};
  SmallVector<int64_t> shape;
  std::vector<Datum> numbers;
  if (!collectNumbers(list.value, 0, shape, numbers)) {
    typeError(list.span, "numbers, or lists of them of equal lengths", list.value)
        .withHint("tensors are joined by stack([a, b]) and concat([a, b])");
    return {};
  }
  auto isBool = [](const Datum &number) { return number.is<bool>(); };
  auto isFraction = [](const Datum &number) { return number.is<double>(); };
  bool areBools = !numbers.empty() && llvm::all_of(numbers, isBool);
  if (!type)
    type = areBools ? DType::Bool : llvm::any_of(numbers, isFraction) ? DType::F32 : DType::I64;
  if (isStorageType(*type)) {
    Value wide = tensorOfList(list, isFloat(*type) ? DType::F64 : DType::I64);
    return wide ? emit.cast(wide, *type, list.span) : wide;
  }
  SmallVector<Attribute> attributes;
  for (const Datum &number : numbers) {
    Value scalar = numberConstant({number, list.span}, *type);
    if (!scalar)
      return {};
    auto constant = scalar.getDefiningOp<ConstantOp>();
    attributes.push_back(cast<DenseElementsAttr>(constant.getValue()).getSplatValue<Attribute>());
    constant.erase();
  }
  auto tensorType = RankedTensorType::get(shape, emit.elementOf(*type));
  return ConstantOp::create(emit.b, emit.loc(list.span),
                            DenseElementsAttr::get(tensorType, attributes));
}

} // namespace pdg

// One execution of one op: its operands, its results, and the checks that only the run can make.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/op_evaluation.h"
#include "ir/interpret/evaluate_elementwise.h"

#include <absl/strings/str_cat.h>

#include <cmath>

using namespace mlir;

namespace pdg {

LogicalResult OpEvaluation::run() {
  auto evaluable = dyn_cast<EvaluableOpInterface>(&op_);
  if (!evaluable || failed(prepare()) || failed(check()) || failed(evaluable.evaluate(*this)) ||
      failed(checkNan()))
    return failure();
  for (auto [value, tensor] : llvm::zip(op_.getResults(), results_)) {
    if (!tensor)
      return failure();
    interpreter_.bind(value, std::move(tensor));
  }
  return success();
}

//===- Errors --------------------------------------------------------------===//

LogicalResult OpEvaluation::failWorld(const absl::Status &status) {
  context().fail(status, locationText(op_.getLoc()));
  return failure();
}

LogicalResult OpEvaluation::failWith(int64_t text, ArrayRef<int64_t> values) {
  auto addresses = llvm::map_to_vector(
      values, [](const int64_t &value) { return reinterpret_cast<const char *>(&value); });
  context().fail(text, addresses.data(), nullptr);
  return failure();
}

LogicalResult OpEvaluation::failMismatch(int64_t a, int64_t b) {
  if (int64_t text = tables().mismatchText(&op_); text >= 0)
    return failWith(text, {a, b});
  return failWorld(absl::InvalidArgumentError(absl::StrCat("sizes ", a, " and ", b, " differ")));
}

/// The first two sizes of `a` and `b` that differ; axes are matched from the last if `a` has fewer.
static std::pair<int64_t, int64_t> differingSizes(const HostTensor &a, const HostTensor &b) {
  int64_t shift = std::max<int64_t>(b.rank() - a.rank(), 0);
  for (int64_t axis = 0; axis < std::min(a.rank(), b.rank()); ++axis)
    if (a.shape()[axis] != b.shape()[axis + shift])
      return {a.shape()[axis], b.shape()[axis + shift]};
  return {a.numElements(), b.numElements()};
}

LogicalResult OpEvaluation::mismatch(const HostTensor &a, const HostTensor &b) {
  auto [x, y] = differingSizes(a, b);
  return failMismatch(x, y);
}

//===- Before the op -------------------------------------------------------===//

/// The sizes of the result, from the sizes and scalars of this run; an error if the operands do not
/// fit each other.
FailureOr<std::vector<int64_t>> OpEvaluation::inferShape() {
  MLIRContext *context = op_.getContext();
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, context); };
  SmallVector<Dims> operands;
  for (Value operand : op_.getOperands())
    operands.push_back(llvm::map_to_vector<4>(interpreter_.lookup(operand)->shape(), constant));
  auto valueOf = [&](Value scalar) {
    return constant(interpreter_.lookup(scalar)->data<int64_t>()[0]);
  };
  std::string message;
  ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  ShapeRule rule(context, op_.getLoc(), valueOf);
  FailureOr<Dims> dims = cast<DimsOpInterface>(&op_).inferDims(operands, rule);
  if (failed(dims) && rule.conflict())
    return failMismatch(rule.conflict()->first, rule.conflict()->second);
  if (failed(dims))
    return failWorld(absl::InvalidArgumentError(message));
  std::vector<int64_t> shape;
  for (AffineExpr size : *dims)
    shape.push_back(cast<AffineConstantExpr>(size).getValue());
  return shape;
}

/// Makes the result of an op with a shape rule, so that impossible sizes are found before it runs.
LogicalResult OpEvaluation::prepare() {
  if (!isa<DimsOpInterface>(op_) && !op_.hasTrait<OpTrait::ConstantLike>())
    return success();
  auto type = cast<RankedTensorType>(op_.getResult(0).getType());
  std::vector<int64_t> shape = type.getShape().vec();
  auto isDynamic = [](Type operand) { return !cast<RankedTensorType>(operand).hasStaticShape(); };
  if (isa<DimsOpInterface>(op_) &&
      (isDynamic(type) || llvm::any_of(op_.getOperandTypes(), isDynamic))) {
    auto inferred = inferShape();
    if (failed(inferred))
      return failure();
    shape = *inferred;
  }
  auto tensor = HostTensor::create(*toDType(type), shape);
  if (!tensor.ok())
    return failWorld(tensor.status());
  prepared_ = std::make_shared<HostTensor>(*std::move(tensor));
  return success();
}

/// Finds the first element that is not what the op needs.
LogicalResult OpEvaluation::check() {
  auto checked = dyn_cast<CheckedOpInterface>(&op_);
  std::optional<RunCheck> check = checked ? checked.getRunCheck() : std::nullopt;
  if (!check)
    return success();
  const HostTensor &x = operand(check->operand);
  bool isIndex = check->kind == RunCheck::IndexInRange;
  int64_t bound = isIndex ? operand(check->table).shape()[check->axis] : 0;
  std::optional<int64_t> wrong;
  dispatch(Ints{}, x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < x.numElements() && !wrong; ++i) {
      int64_t value = x.data<T>()[i];
      if (isIndex ? value < 0 || value >= bound : value == 0)
        wrong = value;
    }
  });
  if (!wrong)
    return success();
  if (auto whole = op_.getAttrOfType<DenseI64ArrayAttr>(kTableAttribute); whole && isIndex) {
    *wrong += whole[0];
    bound = whole[1];
  }
  return isIndex ? failWith(tables().text(&op_), {*wrong, bound})
                 : failWith(tables().text(&op_), {});
}

//===- After the op --------------------------------------------------------===//

static bool hasNan(const HostTensor &x) {
  bool found = false;
  dispatch(Floats{}, x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < x.numElements() && !found; ++i)
      found = std::isnan(x.data<T>()[i]);
  });
  return found;
}

LogicalResult OpEvaluation::checkNan() {
  // What an op with regions gives was made inside, and reported there.
  int64_t text = interpreter_.options().checksNan ? tables().nanText(&op_) : -1;
  if (text < 0 || op_.getNumRegions())
    return success();
  if (llvm::none_of(results_, [](const SharedTensor &r) { return r && hasNan(*r); }) ||
      llvm::any_of(op_.getOperands(), [&](Value x) { return hasNan(*interpreter_.lookup(x)); }))
    return success();
  return failWith(text, {});
}

//===- What ops ask for ----------------------------------------------------===//

HostTensor &OpEvaluation::result(unsigned i, ArrayRef<int64_t> shape) {
  std::shared_ptr<HostTensor> tensor;
  if (i == 0 && prepared_ && ArrayRef<int64_t>(prepared_->shape()) == shape) {
    tensor = prepared_;
  } else {
    // Only small results come here: those that follow from a shape rule are prepared.
    tensor = std::make_shared<HostTensor>(
        HostTensor::create(*toDType(op_.getResult(i).getType()), shape.vec()).value());
  }
  results_[i] = tensor;
  return *tensor;
}

SharedTensor OpEvaluation::scalar(int64_t value) {
  return std::make_shared<HostTensor>(HostTensor::fromValues<int64_t>({}, {value}).value());
}

SharedTensor OpEvaluation::read(Attribute name) {
  return interpreter_.readVariable(tables().variable(name));
}

LogicalResult OpEvaluation::assign(Attribute name, SharedTensor value) {
  int64_t index = tables().variable(name);
  const HostTensor &variable = context().variables()[index];
  if (variable.shape() != value->shape())
    return mismatch(*value, variable);
  interpreter_.assignVariable(index, std::move(value));
  return success();
}

LogicalResult OpEvaluation::openPass(Attribute source) {
  return success(context().openSource(tables().source(source)));
}

FailureOr<SmallVector<SharedTensor>> OpEvaluation::nextBatch(Attribute source) {
  int64_t index = tables().source(source);
  const SourceInfo &info = tables().info().sources[index];
  SmallVector<char *> addresses(info.fields.size());
  int64_t n = context().nextBatch(index, addresses.data());
  if (n < 0)
    return failure();
  SmallVector<SharedTensor> fields;
  for (size_t i = 0; n > 0 && i < addresses.size(); ++i) {
    std::vector<int64_t> shape = info.fields[i].shape;
    shape.insert(shape.begin(), n);
    auto field = HostTensor::create(info.fields[i].dtype, shape);
    if (!field.ok())
      return failWorld(field.status());
    std::memcpy(field->bytes(), addresses[i], field->numBytes());
    fields.push_back(std::make_shared<HostTensor>(*std::move(field)));
  }
  return fields;
}

FailureOr<int64_t> OpEvaluation::sourceSize(Attribute source) {
  int64_t size = context().sourceSize(tables().source(source));
  if (size < 0)
    return failure();
  return size;
}

FailureOr<SharedTensor> OpEvaluation::input(StringRef name) {
  // The context keeps what was fed for as long as it lives.
  return SharedTensor(SharedTensor(), &context().input(tables().input(name)));
}

int64_t OpEvaluation::seed() { return static_cast<int64_t>(context().seed()); }

int64_t OpEvaluation::replica() { return context().replica(); }

LogicalResult OpEvaluation::refuse(StringRef text) {
  return failWorld(absl::FailedPreconditionError(text.str()));
}

LogicalResult OpEvaluation::send(Attribute edge, SharedTensor value) {
  return success(context().send(tables().edge(edge), reinterpret_cast<const char *>(value->bytes()),
                                value->shape().data()));
}

/// A copy of a message, whose memory is the transport's.
FailureOr<SharedTensor> OpEvaluation::copyOf(Attribute edge, const TensorView &message) {
  auto copy = HostTensor::create(tables().info().edges[tables().edge(edge)].dtype,
                                 {message.sizes.begin(), message.sizes.end()});
  if (!copy.ok())
    return failWorld(copy.status());
  if (copy->numBytes() != 0)
    std::memcpy(copy->bytes(), message.data, copy->numBytes());
  return SharedTensor(std::make_shared<HostTensor>(*std::move(copy)));
}

FailureOr<SharedTensor> OpEvaluation::receive(Attribute edge, int64_t from) {
  TensorView message;
  if (!context().take(tables().edge(edge), from, message))
    return failure();
  return copyOf(edge, message);
}

LogicalResult OpEvaluation::enqueue(Attribute queue, int64_t capacity, SharedTensor value) {
  return success(context().enqueue(tables().edge(queue), capacity,
                                   reinterpret_cast<const char *>(value->bytes()),
                                   value->shape().data()));
}

FailureOr<SharedTensor> OpEvaluation::dequeue(Attribute queue) {
  TensorView first;
  if (!context().takeQueued(tables().edge(queue), first))
    return failure();
  return copyOf(queue, first);
}

/// Addresses and sizes of values, as the runtime takes them.
static std::pair<SmallVector<const char *>, SmallVector<int64_t>>
describe(ArrayRef<SharedTensor> values) {
  SmallVector<const char *> addresses;
  SmallVector<int64_t> dims;
  for (const SharedTensor &value : values) {
    addresses.push_back(reinterpret_cast<const char *>(value->bytes()));
    llvm::append_range(dims, value->shape());
  }
  return {addresses, dims};
}

LogicalResult OpEvaluation::print(ArrayRef<SharedTensor> values) {
  auto [addresses, dims] = describe(values);
  return success(context().print(tables().text(&op_), addresses.data(), dims.data()));
}

LogicalResult OpEvaluation::fetch(StringRef name, SharedTensor value) {
  return success(context().fetch(
      tables().fetch(name), reinterpret_cast<const char *>(value->bytes()), value->shape().data()));
}

LogicalResult OpEvaluation::fail(ArrayRef<SharedTensor> values) {
  auto [addresses, dims] = describe(values);
  context().fail(tables().text(&op_), addresses.data(), dims.data());
  return failure();
}

} // namespace pdg

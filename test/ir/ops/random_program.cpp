// Builds random programs statement by statement; see random_program.h.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/random_program.h"
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/contraction.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/reduction.h"
#include "ir/ops/shape.h"
#include "ir/ops/variable.h"

using namespace mlir;

namespace pdg {
namespace {

class Generator {
public:
  Generator(TestContext &test, uint64_t seed, int numOps, const std::string &rowsFile)
      : context_(&test.context), random_(seed), budget_(numOps), b_(context_),
        loc_(b_.getUnknownLoc()), module_(ModuleOp::create(loc_)) {
    b_.setInsertionPointToEnd(module_->getBody());
    declareVariables();
    bool hasBatches = below(4) == 0;
    SourceOp source = hasBatches ? declareSource(rowsFile) : nullptr;
    auto program = ProgramOp::create(b_, loc_);
    b_.setInsertionPointToEnd(&program.getBody().emplaceBlock());
    makeInputs();
    if (source)
      makeBatchLoop(source);
    else
      statements(0);
    fetchSome();
    YieldOp::create(b_, loc_);
  }

  RandomProgram take() { return {std::move(module_), std::move(inputs_)}; }

private:
  //===- Choices -----------------------------------------------------------===//

  int64_t below(int64_t n) { return random_() % n; }
  template <class T> const T &oneOf(const std::vector<T> &list) { return list[below(list.size())]; }

  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  bool isFloat(Value value) { return isFloatTensor(value.getType()); }

  /// Any value in scope, rather a late one.
  Value any() {
    size_t n = values_.size();
    return values_[below(3) ? n - 1 - below(std::min<size_t>(n, 5)) : below(n)];
  }

  Value anyFloat() {
    for (int i = 0; i < 20; ++i)
      if (Value value = any(); isFloat(value))
        return value;
    return values_.front();
  }

  /// A value of exactly this type: one in scope, or one that is made.
  Value ofType(RankedTensorType type, Value like) {
    std::vector<Value> fitting;
    for (Value value : values_)
      if (value.getType() == type)
        fitting.push_back(value);
    if (!fitting.empty() && below(5))
      return oneOf(fitting);
    double number = static_cast<double>(below(7)) - 2.5;
    Value scalar = scalarConstant(b_, loc_, type, number);
    if (type.getRank() == 0)
      return scalar;
    if (like)
      return broadcastTo(b_, loc_, scalar, like);
    return BroadcastOp::create(b_, loc_, scalar, ValueRange(), type.getShape());
  }

  /// A value that broadcasts to `like`, in its sizes.
  Value fitTo(Value like) {
    RankedTensorType type = typeOf(like);
    if (below(2))
      return ofType(type, like);
    std::vector<Value> fitting;
    for (Value value : values_)
      if (typeOf(value).getElementType() == type.getElementType() &&
          broadcasts(typeOf(value), type))
        fitting.push_back(value);
    return fitting.empty() ? ofType(type, like) : broadcastTo(b_, loc_, oneOf(fitting), like);
  }

  static bool broadcasts(RankedTensorType from, RankedTensorType to) {
    int64_t missing = to.getRank() - from.getRank();
    if (missing < 0)
      return false;
    for (int64_t axis = 0; axis < from.getRank(); ++axis)
      if (from.getDimSize(axis) != 1 && from.getDimSize(axis) != to.getDimSize(missing + axis))
        return false;
    return true;
  }

  //===- What there is at the beginning ------------------------------------===//

  void declareVariables() {
    using Shape = std::vector<int64_t>;
    for (auto [i, shape] :
         llvm::enumerate(std::vector<Shape>{{5}, {5}, {3, 17}, {3, 17}, {}, {}, {1, 5}, {40}})) {
      auto type = RankedTensorType::get(shape, b_.getF32Type());
      auto name = NameAttr::get(b_.getStringAttr("v" + std::to_string(i)));
      auto variable = VariableOp::create(b_, loc_, name, type, false);
      OpBuilder inner = OpBuilder::atBlockEnd(&variable.getInit().emplaceBlock());
      Value first = scalarConstant(inner, loc_, type, 0.25 * (i + 1));
      if (type.getRank())
        first = BroadcastOp::create(inner, loc_, first, ValueRange(), type.getShape());
      YieldOp::create(inner, loc_, first);
      variables_.push_back(variable);
    }
  }

  SourceOp declareSource(const std::string &rowsFile) {
    auto field = TypeAttr::get(RankedTensorType::get({2}, b_.getF32Type()));
    return SourceOp::create(b_, loc_, "rows", "csv", b_.getStrArrayAttr({rowsFile}), 24,
                            /*shuffle=*/false, /*window=*/0, /*seed=*/0, /*skip=*/0, /*limit=*/-1,
                            llvm::APFloat(0.0), llvm::APFloat(1.0), /*repeat=*/1, nullptr,
                            b_.getArrayAttr(field));
  }

  void makeInputs() {
    using Shape = std::vector<int64_t>;
    for (auto [i, shape] : llvm::enumerate(
             std::vector<Shape>{{}, {5}, {3, 5}, {17, 3}, {3, 17}, {2, 3, 5}, {40}, {1}})) {
      DType dtype = i == 2 && below(2) ? DType::I32 : DType::F32;
      std::string name = "x" + std::to_string(i);
      inputs_[name] = randomTensor(random_, dtype, shape, Style::Plain);
      values_.push_back(InputOp::create(
          b_, loc_, RankedTensorType::get(shape, elementType(context_, dtype)), name));
    }
  }

  void makeBatchLoop(SourceOp source) {
    for (int i = 0; i < 3; ++i)
      statement(0);
    SmallVector<Value> inits = pick(below(3));
    auto loop = ForEachOp::create(b_, loc_, source, inits);
    auto fill = [&](Block &body) {
      Value rows = body.getArgument(1);
      values_.push_back(rows);
      values_.push_back(SumOp::create(b_, loc_, rows, 1));
      for (BlockArgument argument : body.getArguments().drop_front(2))
        values_.push_back(argument);
      statements(1);
    };
    inBlock(loop.getBody().front(), inits, fill, /*isLoop=*/true);
    llvm::append_range(values_, loop.getResults());
  }

  /// Builds a block that yields values of the types of `like`. A loop's may say that it is the last
  /// round.
  void inBlock(Block &block, ValueRange like, llvm::function_ref<void(Block &)> body,
               bool isLoop = false) {
    OpBuilder::InsertionGuard guard(b_);
    block.clear();
    b_.setInsertionPointToEnd(&block);
    size_t depth = values_.size();
    body(block);
    SmallVector<Value> yields;
    for (Value value : like)
      yields.push_back(ofType(typeOf(value), value));
    Value goesOn = isLoop && below(3) == 0 ? scalarCondition() : Value();
    YieldOp::create(b_, loc_, yields, goesOn);
    values_.resize(depth);
  }

  /// `count` values in scope.
  SmallVector<Value> pick(int64_t count) {
    SmallVector<Value> picked;
    for (int64_t i = 0; i < count; ++i)
      picked.push_back(any());
    return picked;
  }

  //===- Statements --------------------------------------------------------===//

  void statements(int depth) {
    int64_t count = depth ? 2 + below(7) : budget_;
    for (int64_t i = 0; i < count && budget_ > 0; ++i)
      statement(depth);
  }

  void statement(int depth) {
    --budget_;
    switch (below(depth < 3 ? 20 : 17)) {
    case 0:
    case 1:
    case 2:
      return keep(unary());
    case 3:
    case 4:
    case 5:
    case 6:
      return keep(binary());
    case 7:
      return keep(moved());
    case 8:
      return keep(reduced());
    case 9:
      return keep(product());
    case 10:
      return keep(fitTo(any()));
    case 11:
      return keep(rows());
    case 12:
      read(oneOf(variables_));
      return;
    case 13:
    case 14:
      return update();
    case 15:
      return swap();
    case 16:
      return fetch(any());
    case 17:
    case 18:
      return condition(depth);
    default:
      return loop(depth);
    }
  }

  void keep(Value value) {
    if (value)
      values_.push_back(value);
  }

  Value unary() {
    Value x = anyFloat();
    switch (below(9)) {
    case 0:
      return NegOp::create(b_, loc_, x);
    case 1:
      return AbsOp::create(b_, loc_, x);
    case 2:
      return ReluOp::create(b_, loc_, x);
    case 3:
      return TanhOp::create(b_, loc_, x);
    case 4:
      return SigmoidOp::create(b_, loc_, x);
    case 5:
      return FloorOp::create(b_, loc_, x);
    case 6:
      return SignOp::create(b_, loc_, any());
    case 7:
      return CastOp::create(b_, loc_, x, b_.getI32Type());
    default:
      return CastOp::create(b_, loc_, any(), b_.getF32Type());
    }
  }

  Value binary() {
    Value x = any(), y = fitTo(x);
    if (below(2))
      std::swap(x, y);
    switch (below(7)) {
    case 0:
      return AddOp::create(b_, loc_, x, y);
    case 1:
      return SubOp::create(b_, loc_, x, y);
    case 2:
      return MulOp::create(b_, loc_, x, y);
    case 3:
      return MaximumOp::create(b_, loc_, x, y);
    case 4:
      return MinimumOp::create(b_, loc_, x, y);
    case 5:
      return SelectOp::create(b_, loc_, LtOp::create(b_, loc_, x, y), x, y);
    default:
      return isFloat(x) ? DivOp::create(b_, loc_, x, y).getResult() : Value(x);
    }
  }

  /// An axis of `x` whose size is known, or -1.
  int64_t knownAxis(Value x) {
    RankedTensorType type = typeOf(x);
    int64_t axis = type.getRank() ? below(type.getRank()) : -1;
    return axis >= 0 && type.isDynamicDim(axis) ? -1 : axis;
  }

  static bool isLarge(RankedTensorType type) {
    return type.hasStaticShape() && type.getNumElements() > 2000;
  }

  Value moved() {
    Value x = any();
    RankedTensorType type = typeOf(x);
    int64_t axis = knownAxis(x);
    switch (below(6)) {
    case 0: {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
      std::shuffle(order.begin(), order.end(), random_);
      return TransposeOp::create(b_, loc_, x, order);
    }
    case 1: {
      if (axis < 0)
        return nullptr;
      int64_t size = type.getDimSize(axis), offset = below(size);
      return SliceOp::create(b_, loc_, x, axis, offset, 1 + below(size - offset));
    }
    case 2:
      return axis < 0 || isLarge(type)
                 ? nullptr
                 : PadOp::create(b_, loc_, x, axis, below(3), below(3)).getResult();
    case 3:
      return axis < 0 || isLarge(type)
                 ? nullptr
                 : ConcatOp::create(b_, loc_, x, ofType(type, x), axis).getResult();
    case 4:
      return withAxis(x);
    default:
      return type.hasStaticShape()
                 ? ReshapeOp::create(b_, loc_, x, ValueRange(), type.getNumElements()).getResult()
                 : nullptr;
    }
  }

  /// A view: the same elements under another name.
  Value withAxis(Value x) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    shapeOf(b_, loc_, x, shape, sizes);
    shape.push_back(1);
    return ReshapeOp::create(b_, loc_, x, sizes, shape);
  }

  Value reduced() {
    Value x = any();
    if (!typeOf(x).getRank())
      return nullptr;
    int64_t axis = below(typeOf(x).getRank());
    switch (below(4)) {
    case 0:
      return ReduceMaxOp::create(b_, loc_, x, axis);
    case 1:
      return CastOp::create(b_, loc_, ArgMinOp::create(b_, loc_, x, axis), b_.getF32Type());
    default:
      return SumOp::create(b_, loc_, x, axis);
    }
  }

  /// A product with a vector or a matrix whose axis fits.
  Value product() {
    Value x = anyFloat();
    RankedTensorType type = typeOf(x);
    if (type.getRank() != 2)
      return nullptr;
    for (int i = 0; i < 10; ++i) {
      Value y = anyFloat();
      RankedTensorType other = typeOf(y);
      if (other.getRank() != 2 || other.isDynamicDim(0) != type.isDynamicDim(0))
        continue;
      if (other.getDimSize(0) == type.getDimSize(0))
        return contract(b_, loc_, below(2) ? "ki,kj->ij" : "ki,kj->ji", x, y);
      if (other.getDimSize(0) == type.getDimSize(1) && !other.isDynamicDim(0))
        return contract(b_, loc_, below(2) ? "ik,kj->ij" : "ik,kj->ji", x, y);
    }
    return nullptr;
  }

  /// Rows at positions that were computed.
  Value rows() {
    Value table = any(), x = anyFloat();
    if (!typeOf(table).getRank() || typeOf(table).isDynamicDim(0) || typeOf(x).getRank() > 1)
      return nullptr;
    // |tanh| <= 1 and a NaN becomes 0: the positions are in range.
    TensorExpr position{b_, loc_, AbsOp::create(b_, loc_, TanhOp::create(b_, loc_, x))};
    TensorExpr place = position * (typeOf(table).getDimSize(0) * 0.99);
    Value ids = CastOp::create(b_, loc_, place.value, b_.getI64Type());
    return GatherOp::create(b_, loc_, table, ids);
  }

  //===- Variables ---------------------------------------------------------===//

  Value read(VariableOp variable) {
    Value value = ReadOp::create(b_, loc_, variable.getType(), variable.getName());
    values_.push_back(value);
    return value;
  }

  /// What an optimizer does: reads, computes from it and from others, assigns.
  void update() {
    VariableOp variable = oneOf(variables_);
    auto type = cast<RankedTensorType>(variable.getType());
    Value old = below(4) ? read(variable) : ofType(type, nullptr);
    TensorExpr x{b_, loc_, old}, y{b_, loc_, fitTo(old)};
    TensorExpr next = below(3) == 0 ? y : below(2) ? x * 0.5 + y : x - y * 0.125;
    values_.push_back(next.value);
    if (below(3) == 0)
      statement(3);
    AssignOp::create(b_, loc_, variable.getName(), next.value);
    if (below(3) == 0)
      read(variable);
  }

  void swap() {
    int64_t i = 2 * below(3);
    Value x = read(variables_[i]), y = read(variables_[i + 1]);
    AssignOp::create(b_, loc_, variables_[i].getName(), y);
    if (below(2))
      AssignOp::create(b_, loc_, variables_[i + 1].getName(), x);
  }

  //===- Regions -----------------------------------------------------------===//

  Value scalarCondition() {
    Value x = anyFloat();
    while (typeOf(x).getRank())
      x = ReduceMaxOp::create(b_, loc_, x, 0);
    return gt({b_, loc_, x}, below(3) - 1.0).value;
  }

  void condition(int depth) {
    Value condition = scalarCondition();
    SmallVector<Value> like = pick(below(3));
    auto types = llvm::map_to_vector(like, [](Value v) { return v.getType(); });
    auto branch = IfOp::create(b_, loc_, types, condition);
    for (Region &region : branch->getRegions()) {
      if (region.empty())
        region.emplaceBlock();
      inBlock(region.front(), like, [&](Block &) { statements(depth + 1); });
    }
    llvm::append_range(values_, branch.getResults());
  }

  void loop(int depth) {
    SmallVector<Value> inits = pick(below(4));
    auto loop =
        ForOp::create(b_, loc_, sizeConstant(b_, loc_, 0), sizeConstant(b_, loc_, below(4)), inits);
    auto fill = [&](Block &body) {
      values_.push_back(CastOp::create(b_, loc_, body.getArgument(0), b_.getF32Type()).getResult());
      for (BlockArgument argument : body.getArguments().drop_front())
        values_.push_back(argument);
      statements(depth + 1);
    };
    inBlock(loop.getBody().front(), inits, fill, /*isLoop=*/true);
    llvm::append_range(values_, loop.getResults());
  }

  //===- Results -----------------------------------------------------------===//

  void fetch(Value value) { FetchOp::create(b_, loc_, "f" + std::to_string(fetches_++), value); }

  void fetchSome() {
    for (Value value : values_)
      if (below(4) == 0)
        fetch(value);
  }

  MLIRContext *context_;
  Random random_;
  int64_t budget_, fetches_ = 0;
  OpBuilder b_;
  Location loc_;
  OwningOpRef<ModuleOp> module_;
  Tensors inputs_;
  std::vector<VariableOp> variables_;
  std::vector<Value> values_;
};

} // namespace

RandomProgram makeRandomProgram(TestContext &test, uint64_t seed, int numOps,
                                const std::string &rowsFile) {
  return Generator(test, seed, numOps, rowsFile).take();
}

} // namespace pdg

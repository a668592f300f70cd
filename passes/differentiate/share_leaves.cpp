// Sums of contributions that a loop carries become leaves that it carries.
// SPDX-License-Identifier: Apache-2.0
#include "passes/differentiate/share_leaves.h"
#include "ir/dialect.h"
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {
namespace {

/// One value that a loop carries.
struct Carried {
  ForOp loop;
  unsigned index;

  BlockArgument argument() { return loop.getBody().getArgument(1 + index); }
  OpOperand &init() { return loop->getOpOperand(2 + index); }
  OpOperand &yielded() { return loop.getBody().front().getTerminator()->getOpOperand(index); }
  OpResult result() { return loop->getResult(index); }
};

/// A sum of contributions, from the outermost loop that carries it to the op that contributes.
struct Chain {
  SmallVector<Carried> loops;
  SmallVector<Operation *> views; ///< What the sum passes through, the last one first.
  LeavesOpInterface sum;          ///< In the body of the last loop.
};

/// True for zeros of any sizes.
bool isZero(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  return matchPattern(value, m_AnyZeroFloat());
}

/// True for ops that move elements only, in a way that is known when compiling.
bool isView(Operation *op) {
  if (isa_and_nonnull<TransposeOp>(op))
    return true;
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  return reshape && cast<RankedTensorType>(reshape.getX().getType()).hasStaticShape() &&
         cast<RankedTensorType>(reshape.getType()).hasStaticShape();
}

/// Follows the sum that `carried` is to the op that contributes. Fails if it is no such sum.
///
///   %r = for carry (%a = zeros) { %c = sum; %s = accumulate %a, %c; yield %s }
LogicalResult follow(Carried carried, Chain &chain) {
  BlockArgument argument = carried.argument();
  auto accumulate = carried.yielded().get().getDefiningOp<AccumulateOp>();
  if (!accumulate || accumulate.getX() != argument || !argument.hasOneUse() ||
      !accumulate->hasOneUse() || accumulate.getY().getType() != argument.getType() ||
      !isZero(carried.init().get()))
    return failure();
  chain.loops.push_back(carried);
  Value value = accumulate.getY();
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    chain.views.push_back(value.getDefiningOp());
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != argument.getOwner())
    return failure();
  if (auto inner = dyn_cast<ForOp>(op)) {
    // The chains go through a loop in the body, and on in the next iteration.
    if (!value.hasOneUse())
      return failure();
    return follow({inner, cast<OpResult>(value).getResultNumber()}, chain);
  }
  chain.sum = dyn_cast<LeavesOpInterface>(op);
  return success(chain.sum && chain.sum.getLeafBound() > 0);
}

/// Leaves of zeros for the sum of `chain`; null if its sizes are not known before the loop.
Value zerosOf(OpBuilder &b, Chain &chain) {
  auto type = cast<RankedTensorType>(chain.sum->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes;
  if (!type.hasStaticShape()) {
    // Transposes put axis permutation[k] of the sum at k of the total.
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    for (Operation *view : llvm::reverse(chain.views)) {
      auto transpose = dyn_cast<TransposeOp>(view);
      if (!transpose)
        return nullptr;
      axes =
          llvm::map_to_vector(transpose.getPermutation(), [&](int64_t axis) { return axes[axis]; });
    }
    for (auto [axis, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size))
        sizes.push_back(DimOp::create(b, chain.sum.getLoc(), chain.loops.front().init().get(),
                                      llvm::find(axes, axis) - axes.begin()));
  }
  shape.insert(shape.begin(), chain.sum.getLeafBound());
  Value zero = scalarConstant(b, chain.sum.getLoc(), type, 0);
  return BroadcastOp::create(b, chain.sum.getLoc(), zero, sizes, shape);
}

/// Carries leaves instead of sums:
///
///   %l = for carry (%a = zeros) { %s = sum onto %a; yield %s }
///   %r = join_leaves %l
void carryLeaves(Chain &chain) {
  ForOp outermost = chain.loops.front().loop;
  OpBuilder b(outermost);
  Value leaves = zerosOf(b, chain);
  if (!leaves)
    return;
  for (auto [depth, carried] : llvm::enumerate(chain.loops)) {
    auto accumulate = carried.yielded().get().getDefiningOp<AccumulateOp>();
    carried.init().set(depth ? Value(chain.loops[depth - 1].argument()) : leaves);
    bool isLast = depth + 1 == chain.loops.size();
    OpBuilder inner(accumulate);
    carried.argument().setType(cast<RankedTensorType>(leaves.getType()));
    carried.yielded().set(isLast ? chain.sum.addToLeaves(inner, carried.argument())
                                 : Value(chain.loops[depth + 1].result()));
    accumulate.erase();
  }
  b.setInsertionPointAfter(outermost);
  OpResult result = chain.loops.front().result();
  for (Carried carried : chain.loops)
    carried.result().setType(cast<RankedTensorType>(leaves.getType()));
  Operation *join = JoinLeavesOp::create(b, outermost.getLoc(), result);
  Value total = join->getResult(0);
  for (Operation *view : llvm::reverse(chain.views)) {
    Operation *again = b.clone(*view);
    again->setOperand(0, total);
    total = again->getResult(0);
  }
  result.replaceAllUsesExcept(total, join);
}

} // namespace

void shareLeaves(ModuleOp module) {
  // Outer loops first: their chains go through those inside.
  module.walk<WalkOrder::PreOrder>([](ForOp loop) {
    for (unsigned index = 0; index < loop.getNumResults(); ++index) {
      Chain chain;
      if (succeeded(follow({loop, index}, chain)))
        carryLeaves(chain);
    }
  });
  module.walk([](AccumulateOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(AddOp::create(b, op.getLoc(), op.getX(), op.getY()).getResult());
    op.erase();
  });
}

} // namespace pdg

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
};

/// An op around the op that contributes: a loop that carries the sum, or a condition that gives the
/// contribution in one branch and zeros in the other one.
struct Around {
  Operation *op;
  unsigned index;
  unsigned branch; ///< The region with what contributes.

  OpResult result() { return op->getResult(index); }
  OpOperand &yielded(unsigned region) {
    return op->getRegion(region).front().getTerminator()->getOpOperand(index);
  }
};

/// A sum of contributions, from the outermost loop that carries it to the op that contributes.
struct Chain {
  SmallVector<Around> around;
  SmallVector<Operation *> views; ///< What the sum passes through, the last one first.
  LeavesOpInterface sum;          ///< In the innermost region.
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

LogicalResult followCarried(Carried carried, Chain &chain);

/// Follows a contribution, a value of `block`, to the op that makes it.
LogicalResult follow(Value value, Block *block, Chain &chain) {
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    chain.views.push_back(value.getDefiningOp());
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return failure();
  if (!isa<ForOp, IfOp>(op)) {
    chain.sum = dyn_cast<LeavesOpInterface>(op);
    return success(chain.sum && chain.sum.getLeafBound() > 0);
  }
  if (!value.hasOneUse())
    return failure();
  unsigned index = cast<OpResult>(value).getResultNumber();
  // The chains go through a loop in the body, and on in the next iteration.
  if (auto loop = dyn_cast<ForOp>(op))
    return followCarried({loop, index}, chain);
  for (unsigned branch : {0, 1}) {
    Around around{op, index, branch};
    if (!isZero(around.yielded(1 - branch).get()))
      continue;
    chain.around.push_back(around);
    return follow(around.yielded(branch).get(), &op->getRegion(branch).front(), chain);
  }
  return failure();
}

/// Follows the sum that `carried` is to the op that contributes. Fails if it is no such sum.
///
///   %r = for carry (%a = zeros) { %c = sum; %s = contribute %a, %c; yield %s }
LogicalResult followCarried(Carried carried, Chain &chain) {
  BlockArgument argument = carried.argument();
  auto contribute = carried.yielded().get().getDefiningOp<ContributeOp>();
  if (!contribute || contribute.getX() != argument || !argument.hasOneUse() ||
      !contribute->hasOneUse() || contribute.getY().getType() != argument.getType() ||
      !isZero(carried.init().get()))
    return failure();
  chain.around.push_back({carried.loop, carried.index, 0});
  return follow(contribute.getY(), argument.getOwner(), chain);
}

/// Leaves of zeros for the sum of `chain`, which began as `init`; null if its sizes are not known
/// before the loop.
Value zerosOf(OpBuilder &b, Chain &chain, Value init) {
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
        sizes.push_back(
            DimOp::create(b, chain.sum.getLoc(), init, llvm::find(axes, axis) - axes.begin()));
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
  Around outermost = chain.around.front();
  OpBuilder b(outermost.op);
  Carried first{cast<ForOp>(outermost.op), outermost.index};
  Value leaves = zerosOf(b, chain, first.init().get());
  if (!leaves)
    return;
  auto type = cast<RankedTensorType>(leaves.getType());
  for (size_t depth = 0; depth < chain.around.size(); ++depth) {
    Around &around = chain.around[depth];
    around.result().setType(type);
    OpOperand &yielded = around.yielded(around.branch);
    Operation *contribute = nullptr;
    if (auto loop = dyn_cast<ForOp>(around.op)) {
      Carried carried{loop, around.index};
      carried.init().set(leaves);
      leaves = carried.argument();
      leaves.setType(type);
      contribute = yielded.get().getDefiningOp();
    } else {
      // Leaves pass by the branch that contributes nothing.
      around.yielded(1 - around.branch).set(leaves);
    }
    OpBuilder inner(yielded.getOwner());
    yielded.set(depth + 1 < chain.around.size() ? Value(chain.around[depth + 1].result())
                                                : chain.sum.addToLeaves(inner, leaves));
    if (contribute)
      contribute->erase();
  }
  b.setInsertionPointAfter(outermost.op);
  Operation *join = JoinLeavesOp::create(b, outermost.op->getLoc(), outermost.result());
  Value total = join->getResult(0);
  for (Operation *view : llvm::reverse(chain.views)) {
    Operation *again = b.clone(*view);
    again->setOperand(0, total);
    total = again->getResult(0);
  }
  outermost.result().replaceAllUsesExcept(total, join);
}

} // namespace

void shareLeaves(ModuleOp module) {
  // Outer loops first: their chains go through those inside.
  module.walk<WalkOrder::PreOrder>([](ForOp loop) {
    for (unsigned index = 0; index < loop.getNumResults(); ++index) {
      Chain chain;
      if (succeeded(followCarried({loop, index}, chain)))
        carryLeaves(chain);
    }
  });
  module.walk([](ContributeOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(AddOp::create(b, op.getLoc(), op.getX(), op.getY()).getResult());
    op.erase();
  });
}

} // namespace pdg

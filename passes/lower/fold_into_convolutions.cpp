// Folds the bias and the relu behind a convolution into it, so that its result is written once.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/convolution.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/shape.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_FOLDINTOCONVOLUTIONS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The vector that `value`, of the sizes of the result of `conv`, repeats for each of its channels:
/// one number a filter. Null if `value` is something else.
Value biasOf(Value value, Conv2dOp conv) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  auto reshape = broadcast ? broadcast.getX().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!reshape)
    return {};
  auto filters = cast<RankedTensorType>(conv.getW().getType()).getDimSize(0);
  auto vector = cast<RankedTensorType>(reshape.getX().getType());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(reshape.getType()).getShape();
  if (shape.size() == 4 && shape.front() == 1)
    shape = shape.drop_front();
  bool isPerChannel = shape == ArrayRef<int64_t>{filters, 1, 1};
  return isPerChannel && vector.getShape() == ArrayRef<int64_t>{filters} ? reshape.getX() : Value();
}

/// The only user of `value` if it is an `OpTy` in the same block.
template <class OpTy> OpTy onlyUser(Value value) {
  if (!value.hasOneUse())
    return {};
  auto user = dyn_cast<OpTy>(*value.getUsers().begin());
  return user && user->getBlock() == value.getParentBlock() ? user : OpTy();
}

/// Replaces `last` by `conv` with a bias (perhaps none) and a relu (perhaps not).
Conv2dOp replaceBy(Operation *last, Conv2dOp conv, Value bias, bool relu) {
  OpBuilder b(last);
  auto folded =
      Conv2dOp::create(b, conv.getLoc(), conv.getX(), conv.getW(), bias, relu, conv.getStride(),
                       conv.getPadding(), conv.getDilation(), conv.getGroups());
  last->getResult(0).replaceAllUsesWith(folded.getResult());
  last->erase();
  conv.erase();
  return folded;
}

struct FoldIntoConvolutionsPass : impl::FoldIntoConvolutionsBase<FoldIntoConvolutionsPass> {
  void runOnOperation() override {
    SmallVector<Conv2dOp> convolutions;
    getOperation()->walk([&](Conv2dOp op) { convolutions.push_back(op); });
    for (Conv2dOp conv : convolutions) {
      // A convolution that may stop the run stays where it is.
      if (cast<RankedTensorType>(conv.getX().getType()).isDynamicDim(1))
        continue;
      AddOp add = onlyUser<AddOp>(conv.getResult());
      if (add && !conv.getBias() && !conv.getRelu()) {
        Value other = add.getX() == conv.getResult() ? add.getY() : add.getX();
        if (Value bias = biasOf(other, conv))
          conv = replaceBy(add, conv, bias, false);
      }
      if (ReluOp relu = onlyUser<ReluOp>(conv.getResult()); relu && !conv.getRelu())
        replaceBy(relu, conv, conv.getBias(), true);
    }
  }
};

} // namespace
} // namespace pdg

// The ops of compare.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/compare.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/compare.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/compare.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- CastOp --------------------------------------------------------------===//

/// The kind of number that elements of `type` are for formulas.
static Elem elemOf(Type type) {
  switch (*toDType(type)) {
  case DType::F32:
    return Elem::F32;
  case DType::F64:
    return Elem::F64;
  case DType::I32:
    return Elem::I32;
  case DType::I64:
    return Elem::I64;
  case DType::U8:
    return Elem::U8;
  default:
    return Elem::Bool;
  }
}

Value CastOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Emitted x = emitted(context, context.load(0, index), getElementTypeOrSelf(getX().getType()));
  switch (elemOf(getElement())) {
  case Elem::F32:
    return pdg::cast<Elem::F32>(x).value;
  case Elem::F64:
    return pdg::cast<Elem::F64>(x).value;
  case Elem::I32:
    return pdg::cast<Elem::I32>(x).value;
  case Elem::I64:
    return pdg::cast<Elem::I64>(x).value;
  case Elem::U8:
    return pdg::cast<Elem::U8>(x).value;
  default:
    return pdg::cast<Elem::Bool>(x).value;
  }
}

LogicalResult CastOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  HostTensor &out = eval.result(0, x.shape());
  bool done = dispatch(AnyType{}, x.dtype(), [&]<class From>() {
    dispatch(AnyType{}, out.dtype(), [&]<class To>() {
      for (int64_t i = 0; i < x.numElements(); ++i)
        out.data<To>()[i] = pdg::cast<pdg::elemOf<To>()>(Scalar<From>{x.data<From>()[i]}).value;
    });
  });
  return success(done);
}

LogicalResult CastOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && isFloatTensor(getX().getType()) && reverse.isActive(getX()))
    reverse.add(getX(), CastOp::create(b, getLoc(), g, getElementTypeOrSelf(getX().getType())));
  return success();
}

} // namespace pdg

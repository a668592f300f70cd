// Emission of a loop over arrays with the dialects that code generation uses.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/math/element_kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pdg::test {

static Type memoryType(Elem elem, int width, MLIRContext *context) {
  Type type;
  if (isFloatElem(elem))
    type = elem == Elem::F32 ? Type(Float32Type::get(context)) : Type(Float64Type::get(context));
  else if (elem == Elem::U8 || elem == Elem::Bool)
    type = IntegerType::get(context, 8);
  else
    type = IntegerType::get(context, elem == Elem::I32 || elem == Elem::U32 ? 32 : 64);
  return width == 1 ? type : Type(VectorType::get({width}, type));
}

void emitElementKernel(KernelJit &jit, const std::string &name, Elem in, Elem out, int width,
                       const EmitBody &body) {
  MLIRContext *context = jit.module().getContext();
  Location loc = UnknownLoc::get(context);
  OpBuilder b = OpBuilder::atBlockEnd(jit.module().getBody());
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto function = func::FuncOp::create(
      b, loc, name, b.getFunctionType({pointer, pointer, pointer, b.getI64Type()}, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto constant = [&](int64_t c) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(c)).getResult();
  };
  auto loop = scf::ForOp::create(b, loc, constant(0), entry->getArgument(3), constant(width));
  b.setInsertionPointToStart(loop.getBody());
  auto address = [&](int argument, Elem elem) {
    return LLVM::GEPOp::create(b, loc, pointer, memoryType(elem, 1, context),
                               entry->getArgument(argument),
                               llvm::ArrayRef<LLVM::GEPArg>{loop.getInductionVar()});
  };
  bool isUnsigned = in == Elem::U32 || in == Elem::U64;
  auto load = [&](int argument) {
    Type type = memoryType(in, width, context);
    Value value = LLVM::LoadOp::create(b, loc, type, address(argument, in), /*alignment=*/1);
    return Emitted(b, loc, value, isUnsigned);
  };
  Emitted x = load(0), y = load(1);
  Emitted result = body(x, y);
  if (result.elem() == Elem::Bool)
    result = convert<Elem::U8>(result);
  LLVM::StoreOp::create(b, loc, result.value, address(2, out), /*alignment=*/1);
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc);
}

} // namespace pdg::test

// Lowers the blocks of a program, op by op.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/program_lowering.h"
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/codegen/cpu/order_kernels.h"
#include "passes/codegen/cpu/window_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace pdg {

/// Element operations that are worth waking another thread for.
static constexpr int64_t kParallelCost = 1 << 15;

ProgramLowering::ProgramLowering(ModuleOp module, ModuleOp code, const ProgramTables &tables,
                                 ShapeAnalysis &shapes, const MemoryPlan &plan,
                                 const TargetInfo &target)
    : Lowering(builder_), builder_(module.getContext()), module_(module), code_(code),
      tables_(tables), shapes_(shapes), plan_(plan), target_(target),
      loc_(UnknownLoc::get(module.getContext())), i64_(builder_.getI64Type()),
      ptr_(LLVM::LLVMPointerType::get(module.getContext())) {}

int64_t ProgramLowering::arenaBytes() const {
  return llvm::alignTo(plan_.arenaBytes(), 4096) + workBytes_;
}

LogicalResult ProgramLowering::run() {
  startFunction("pdg_init");
  for (Operation *op : tables_.variableOps()) {
    auto variable = cast<VariableOp>(op);
    Block &init = variable.getInit().front();
    if (failed(lowerBlock(init)))
      return failure();
    Value value = init.getTerminator()->getOperand(0);
    copyBytes(variableAddress(variable.getName()), pointer(value), bytesOf(value));
  }
  endFunction();
  startFunction("pdg_main");
  if (failed(lowerBlock(tables_.program()->getRegion(0).front())))
    return failure();
  endFunction();
  return success();
}

//===- Functions -----------------------------------------------------------===//

void ProgramLowering::startFunction(StringRef name) {
  b.setInsertionPointToEnd(code_.getBody());
  auto type = LLVM::LLVMFunctionType::get(i64_, {ptr_, ptr_, ptr_});
  function_ = LLVM::LLVMFuncOp::create(b, loc_, name, type);
  Block *entry = function_.addEntryBlock(b);
  exit_ = new Block();
  exit_->addArgument(i64_, loc_);
  b.setInsertionPointToEnd(entry);
  threads_ = call("pdg_threads", {});
  // The words of the arguments of one kernel; how many is known at the end.
  arguments_ = room(1);
}

void ProgramLowering::endFunction() {
  branch(exit_, constant(0));
  function_.getBody().push_back(exit_);
  b.setInsertionPointToEnd(exit_);
  LLVM::ReturnOp::create(b, loc_, exit_->getArgument(0));
  OpBuilder start = OpBuilder::atBlockBegin(&function_.getBody().front());
  Value count = arith::ConstantIntOp::create(start, loc_, maxArguments_, 64);
  arguments_.getDefiningOp<LLVM::AllocaOp>().getArraySizeMutable().assign(count);
}

Block *ProgramLowering::newBlock(unsigned counters) {
  Block *block = new Block();
  function_.getBody().push_back(block);
  for (unsigned i = 0; i < counters; ++i)
    block->addArgument(i64_, loc_);
  return block;
}

void ProgramLowering::enter(Block *block) {
  // Blocks stand in the order in which they are entered, which readers of the code thank.
  block->moveBefore(&function_.getBody(), function_.getBody().end());
  b.setInsertionPointToEnd(block);
}

void ProgramLowering::branch(Block *to, ValueRange counters) {
  cf::BranchOp::create(b, loc_, to, counters);
}

void ProgramLowering::branchIf(Value condition, Block *then, Block *otherwise) {
  cf::CondBranchOp::create(b, loc_, condition, then, ValueRange(), otherwise, ValueRange());
}

void ProgramLowering::stopIf(Value status) {
  Block *next = newBlock(0);
  Value stops = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ne, status, constant(0));
  cf::CondBranchOp::create(b, loc_, stops, exit_, ValueRange{status}, next, ValueRange());
  enter(next);
}

Value ProgramLowering::call(StringRef name, ValueRange arguments) {
  bool isVoid = name == "pdg_parallel";
  auto callee = code_.lookupSymbol<LLVM::LLVMFuncOp>(name);
  SmallVector<Value> all{function_.getArgument(0)};
  llvm::append_range(all, arguments);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code_.getBody());
    Type result = isVoid ? Type(LLVM::LLVMVoidType::get(b.getContext())) : i64_;
    auto types = llvm::map_to_vector(all, [](Value v) { return v.getType(); });
    callee = LLVM::LLVMFuncOp::create(b, loc_, name, LLVM::LLVMFunctionType::get(result, types));
  }
  auto op = LLVM::CallOp::create(b, loc_, callee, all);
  return isVoid ? Value() : op.getResult();
}

//===- Ops -----------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

KernelBuilder ProgramLowering::newKernel(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return KernelBuilder(code_, ("kernel_" + Twine(kernels_++) + "_" + name).str(), shapes_, target_,
                       loc_);
}

LogicalResult ProgramLowering::lowerOp(Operation *op) {
  if (isa<ViewOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return lowerChecks(op);
  if (failed(lowerChecks(op)))
    return failure();
  // An update that is not made in place is one of a copy.
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    copy(op->getOperand(update.getUpdatedOperand()), op->getResult(0));
  if (auto lowerable = dyn_cast<LowerableOpInterface>(op))
    return lowerable.lower(*this);
  KernelBuilder k = newKernel(op);
  if (isa<FusedOp>(op)) {
    launch(buildFusedKernel(op, k));
  } else if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    launch(buildReductionKernel(reduction, k));
  } else if (auto contraction = dyn_cast<ContractionOpInterface>(op)) {
    launch(buildContractionKernel(contraction, k));
  } else if (auto scatter = dyn_cast<ScatterOpInterface>(op)) {
    launch(buildScatterKernel(scatter, k));
  } else if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    launch(buildScanKernel(scan, k));
  } else if (auto sort = dyn_cast<SortOpInterface>(op)) {
    launch(buildSortKernel(sort, k));
  } else if (auto placed = dyn_cast<PlaceOpInterface>(op)) {
    launch(buildPlaceKernel(placed, k));
  } else if (auto convolution = dyn_cast<ConvolveOpInterface>(op)) {
    launch(buildConvolutionKernel(convolution, k));
  } else if (auto pooling = dyn_cast<PoolOpInterface>(op)) {
    launch(buildPoolingKernel(pooling, k));
  } else {
    return op->emitOpError("has no native code");
  }
  return success();
}

/// The kernel with the same body if there is one, else `kernel`. Layers of equal shapes, and the
/// optimizer's kernels of equal parameters, differ in their arguments only; compiling each would be
/// most of the time that a large model takes.
LLVM::LLVMFuncOp ProgramLowering::shared(LLVM::LLVMFuncOp kernel) {
  constexpr auto Flags = OperationEquivalence::IgnoreLocations;
  llvm::hash_code hash(0);
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue, Flags));
  });
  auto &known = byBody_[hash];
  for (LLVM::LLVMFuncOp other : known)
    if (OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &kernel.getBody(), Flags)) {
      kernel.erase();
      return other;
    }
  known.push_back(kernel);
  return kernel;
}

void ProgramLowering::launch(Kernel kernel) {
  kernel.function = shared(kernel.function);
  maxArguments_ = std::max<int64_t>(maxArguments_, kernel.arguments.size());
  workBytes_ = std::max(workBytes_, kernel.workBytes * (kernel.isParallel ? kMaxTasks : 1));
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    Value word;
    switch (argument.kind) {
    case KernelArgument::Address:
      word = pointer(argument.tensor);
      break;
    case KernelArgument::Size:
      word = size(argument.size);
      break;
    case KernelArgument::Work:
      word = arenaAt(llvm::alignTo(plan_.arenaBytes(), 4096));
      break;
    }
    LLVM::StoreOp::create(b, loc_, word, wordAt(arguments_, index));
  }
  auto bound = shapes_.boundOf(kernel.cost);
  if (!kernel.isParallel || (bound && *bound < kParallelCost)) {
    LLVM::CallOp::create(b, loc_, kernel.function,
                         ValueRange{arguments_, constant(0), constant(1)});
    return;
  }
  Value most = constant(kMaxTasks);
  Value tasks = arith::MinSIOp::create(b, loc_, threads_, most);
  Value address = LLVM::AddressOfOp::create(b, loc_, kernel.function);
  call("pdg_parallel", {address, arguments_, tasks});
}

//===- Sizes ---------------------------------------------------------------===//

Value ProgramLowering::constant(int64_t value) {
  return arith::ConstantIntOp::create(b, loc_, value, 64);
}

Value ProgramLowering::symbolValue(unsigned position) {
  const SizeSymbol &symbol = shapes_.symbols()[position];
  if (symbol.isScalar)
    return loadScalar(symbol.value);
  Value examples = batches_.lookup(symbol.value);
  assert(examples && "a batch is used inside its loop only");
  return examples;
}

Value ProgramLowering::size(AffineExpr expr) {
  if (auto known = dyn_cast<AffineConstantExpr>(expr))
    return constant(known.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbolValue(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = size(binary.getLHS()), y = size(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc_, x, y);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc_, x, y);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc_, x, y);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc_, x, y);
  default: {
    // mod of affine expressions has the sign of the divisor.
    Value quotient = arith::FloorDivSIOp::create(b, loc_, x, y);
    return arith::SubIOp::create(b, loc_, x, arith::MulIOp::create(b, loc_, quotient, y));
  }
  }
}

SmallVector<Value> ProgramLowering::sizes(Value tensor) {
  SmallVector<Value> result;
  for (AffineExpr expr : shapes_.dimsOf(tensor))
    result.push_back(size(expr));
  return result;
}

Value ProgramLowering::bytesOf(Value tensor) {
  Value bytes = constant(sizeOf(*toDType(tensor.getType())));
  return arith::MulIOp::create(b, loc_, bytes,
                               size(productOf(shapes_.dimsOf(tensor), b.getContext())));
}

//===- Checks --------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerChecks(Operation *op) {
  if (isa<FusedOp>(op)) {
    for (Operation &inner : op->getRegion(0).front())
      if (failed(lowerChecks(&inner)))
        return failure();
    return success();
  }
  checkSizes(op);
  if (auto checked = dyn_cast<CheckedOpInterface>(op))
    if (std::optional<RunCheck> check = checked.getRunCheck())
      checkElements(op, *check);
  return success();
}

void ProgramLowering::checkSizes(Operation *op) {
  for (auto [left, right] : shapes_.checksOf(op)) {
    Value x = size(left), y = size(right);
    Block *fails = newBlock(0), *holds = newBlock(0);
    branchIf(arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, x, y), holds, fails);
    enter(fails);
    Value words = room(2), table = room(2);
    const Value sides[] = {x, y};
    for (auto [index, value] : llvm::enumerate(sides)) {
      LLVM::StoreOp::create(b, loc_, value, wordAt(words, index));
      LLVM::StoreOp::create(b, loc_, wordAt(words, index), wordAt(table, index));
    }
    stopIf(call("pdg_fail", {constant(tables_.mismatchText(op)), table, table}));
    branch(holds, {});
    enter(holds);
  }
}

/// Builds the loop that looks for the first element that breaks `check`; the scratch memory gets
/// its position (-1: none), its value and the size it should be below.
static Kernel buildCheckKernel(Operation *op, const RunCheck &check, KernelBuilder &k) {
  Value operand = op->getOperand(check.operand);
  Type element = getElementTypeOrSelf(operand.getType());
  bool isIndex = check.kind == RunCheck::IndexInRange;
  Value limit = isIndex ? k.size(k.shapes.dimsOf(op->getOperand(check.table))[check.axis]) : k.c(0);
  AffineExpr count = productOf(k.shapes.dimsOf(operand), op->getContext());
  Value result = k.work(64), address = k.address(operand);
  k.store(k.c(-1), result, k.i64, k.c(0));
  Value n = k.size(count);
  k.loop(k.c(0), n, k.c(1), [&](Value reversed) {
    // Backwards, so that the first one is what stays.
    Value i = k.sub(k.sub(n, k.c(1)), reversed);
    Emitted loaded(k.b, k.loc, k.load(address, element, i), element.isUnsignedInteger());
    Value x = convert(loaded, Elem::I64).value;
    Value breaks =
        isIndex ? arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::uge, x, limit).getResult()
                : k.equal(x, k.c(0));
    auto whole = op->getAttrOfType<DenseI64ArrayAttr>(kTableAttribute);
    k.when(breaks, [&] {
      k.store(i, result, k.i64, k.c(0));
      k.store(whole ? k.add(x, k.c(whole[0])) : x, result, k.i64, k.c(1));
      k.store(whole ? k.c(whole[1]) : limit, result, k.i64, k.c(2));
    });
  });
  return k.finish(count, false);
}

void ProgramLowering::checkElements(Operation *op, const RunCheck &check) {
  KernelBuilder k = newKernel(op);
  launch(buildCheckKernel(op, check, k));
  Value found = arenaAt(llvm::alignTo(plan_.arenaBytes(), 4096));
  Block *fails = newBlock(0), *holds = newBlock(0);
  Value none =
      arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::slt, loadWord(found, 0), constant(0));
  branchIf(none, holds, fails);
  enter(fails);
  Value table = room(2);
  for (int64_t i : {0, 1})
    LLVM::StoreOp::create(b, loc_, wordAt(found, i + 1), wordAt(table, i));
  stopIf(call("pdg_fail", {textSite(op), table, table}));
  branch(holds, {});
  enter(holds);
}

} // namespace pdg

// Emission of pooling: neighbouring windows are the lanes of a vector. A row is read in whole
// vectors, whose lanes are sorted by window columns afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/pool.h"

#include "passes/codegen/cpu/kernels/pool_kernel.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace pdg {

PoolEmitter::PoolEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, const PoolSpec &spec,
                         const TargetInfo &target)
    : e(builder, function.getLoc(), spec.isF64, target), spec(spec) {
  Value *fields[] = {&first, &second, &out, &p0, &p1};
  for (auto [field, argument] : llvm::zip_equal(fields, function.getArguments()))
    *field = argument;
  Type place = spec.isF64 ? builder.getI64Type() : builder.getI32Type();
  places = VectorType::get({e.vl}, place);
}

void PoolEmitter::emit() {
  int64_t pixels = spec.height * spec.width, windows = spec.outHeight() * spec.outWidth();
  e.loop(p0, p1, 1, [&](Value plane) {
    auto at = [&](Value from, int64_t size) { return e.at(from, e.mul(plane, e.c(size))); };
    switch (spec.kind) {
    case PoolSpec::Max:
    case PoolSpec::Sum:
    case PoolSpec::MaxAt: {
      Value x = at(first, pixels), to = at(out, windows);
      Value y = spec.kind == PoolSpec::MaxAt ? at(second, pixels) : Value();
      return isShort() ? gatherPlane(x, y, to) : gatherWindows(x, y, to);
    }
    case PoolSpec::MaxGrad:
    case PoolSpec::SumGrad: {
      Value g = at(first, windows), to = at(out, pixels);
      Value x = spec.kind == PoolSpec::MaxGrad ? at(second, pixels) : Value();
      return windowsAreApart() ? spreadPlane(g, x, to) : scatterPlane(g, x, to);
    }
    }
  });
}

Value PoolEmitter::splat(Type type, double value) {
  auto vector = dyn_cast<VectorType>(type);
  Type element = vector ? vector.getElementType() : type;
  Attribute attribute = isa<FloatType>(element)
                            ? Attribute(e.b.getFloatAttr(element, value))
                            : e.b.getIntegerAttr(element, static_cast<int64_t>(value));
  if (vector)
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(attribute));
}

Value PoolEmitter::compare(arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(e.b, e.loc, predicate, x, y);
}

/// True if windows may be unrolled: the code is not too long, and few vectors are sorted.
bool PoolEmitter::isShort() const { return spec.windowH * spec.windowW <= 64 && spec.strideW <= 4; }

//===- Windows in lanes ----------------------------------------------------===//

/// True if all lanes from output column `first` on are windows inside the plane, and all vectors
/// that are read for them are too.
bool PoolEmitter::isWhole(int64_t first) const {
  int64_t begin = first * spec.strideW - spec.padLeft;
  int64_t reach = llvm::alignTo((e.vl - 1) * spec.strideW + spec.windowW, e.vl);
  return first + e.vl <= spec.outWidth() && begin >= 0 && begin + reach <= spec.width;
}

/// Visits the windows of an output row, a vector at a time. Those without masks, which are
/// neighbours, share a loop.
void PoolEmitter::eachLanes(llvm::function_ref<void(const WindowLanes &)> body) {
  int64_t column = 0, width = spec.outWidth();
  for (; column < width && !isWhole(column); column += e.vl)
    body({e.c(column), column});
  int64_t end = column;
  while (end < width && isWhole(end))
    end += e.vl;
  e.loop(e.c(column), e.c(end), e.vl, [&](Value at) { body({at, std::nullopt}); });
  for (; end < width; end += e.vl)
    body({e.c(end), end});
}

Value PoolEmitter::laneMask(const WindowLanes &lanes,
                            llvm::function_ref<bool(int64_t lane)> isPresent) {
  if (!lanes.known)
    return {};
  SmallVector<bool> present;
  for (int64_t lane = 0; lane < e.vl; ++lane)
    present.push_back(isPresent(lane));
  return e.constantMask(present);
}

/// Where column 0 of the windows in lane 0 lies.
Value PoolEmitter::firstElement(Value plane, Value row, const WindowLanes &lanes) {
  Value column = e.sub(e.mul(lanes.first, e.c(spec.strideW)), e.c(spec.padLeft));
  return e.at(plane, e.add(e.mul(row, e.c(spec.width)), column));
}

/// The elements of a row from the first column of the first window on, in whole vectors.
Values PoolEmitter::loadBlocks(Value plane, Value row, const WindowLanes &lanes) {
  Value from = firstElement(plane, row, lanes);
  Values blocks;
  for (int64_t at = 0; at < (e.vl - 1) * spec.strideW + spec.windowW; at += e.vl) {
    Value mask = laneMask(lanes, [&](int64_t lane) {
      int64_t column = *lanes.known * spec.strideW - spec.padLeft + at + lane;
      return column >= 0 && column < spec.width;
    });
    blocks.push_back(e.load(e.at(from, at), mask));
  }
  return blocks;
}

/// Column v of each lane's window.
Value PoolEmitter::windowColumn(const Values &blocks, int64_t v) {
  Value result;
  for (auto [index, block] : llvm::enumerate(blocks)) {
    SmallVector<int64_t> lanes;
    bool isUsed = false;
    for (int64_t lane = 0; lane < e.vl; ++lane) {
      int64_t place = lane * spec.strideW + v - static_cast<int64_t>(index) * e.vl;
      bool isHere = place >= 0 && place < e.vl;
      isUsed |= isHere;
      lanes.push_back(isHere ? e.vl + place : lane);
    }
    if (isUsed)
      result = e.shuffle(result ? result : block, block, lanes);
  }
  return result;
}

/// `loaded` with `value` in the lanes whose column v is outside the plane.
Value PoolEmitter::outsideIs(double value, Value loaded, const WindowLanes &lanes, int64_t v) {
  Value mask = laneMask(lanes, [&](int64_t lane) {
    int64_t column = (*lanes.known + lane) * spec.strideW - spec.padLeft + v;
    return column >= 0 && column < spec.width;
  });
  return mask ? e.select(mask, loaded, splat(e.vec, value)) : loaded;
}

Value PoolEmitter::rowIsInside(Value row) {
  if (!spec.padTop && !spec.padBottom)
    return arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  return e.both(e.less(e.c(-1), row), e.less(row, e.c(spec.height)));
}

Values
PoolEmitter::eachRow(Value i, ValueRange state,
                     llvm::function_ref<Values(int64_t u, Value row, ValueRange state)> step) {
  Values carried(state);
  for (int64_t u = 0; u < spec.windowH; ++u) {
    Value row = e.add(e.mul(i, e.c(spec.strideH)), e.c(u - spec.padTop));
    carried =
        e.choose(rowIsInside(row), [&] { return step(u, row, carried); }, [&] { return carried; });
  }
  return carried;
}

//===- Results of windows --------------------------------------------------===//

void PoolEmitter::gatherPlane(Value x, Value y, Value to) {
  e.loop(e.c(0), e.c(spec.outHeight()), 1, [&](Value i) {
    eachLanes([&](const WindowLanes &lanes) {
      Values state = eachRow(i, startState(), [&](int64_t u, Value row, ValueRange carried) {
        return addRow(u, row, x, y, lanes, carried);
      });
      Value result = spec.kind == PoolSpec::MaxAt ? state[2] : state[0];
      Value place = e.at(to, e.add(e.mul(i, e.c(spec.outWidth())), lanes.first));
      e.store(result, place,
              laneMask(lanes, [&](int64_t lane) { return *lanes.known + lane < spec.outWidth(); }));
    });
  });
}

/// The state before the first element: of Sum and Max the value; of MaxAt the largest element of x,
/// the number of its place (-1: none yet) and the element of y; of MaxGrad the first two.
Values PoolEmitter::startState() {
  if (spec.kind == PoolSpec::Sum)
    return {e.zero()};
  Values state{splat(e.vec, -std::numeric_limits<double>::infinity())};
  if (spec.kind != PoolSpec::Max)
    state.push_back(splat(places, -1));
  if (spec.kind == PoolSpec::MaxAt)
    state.push_back(e.zero());
  return state;
}

Values PoolEmitter::addRow(int64_t u, Value row, Value x, Value y, const WindowLanes &lanes,
                           ValueRange state) {
  Values result(state), blocks = loadBlocks(x, row, lanes), others;
  if (y)
    others = loadBlocks(y, row, lanes);
  for (int64_t v = 0; v < spec.windowW; ++v) {
    Value loaded = windowColumn(blocks, v);
    if (spec.kind == PoolSpec::Sum) {
      result[0] = e.addF(result[0], outsideIs(0, loaded, lanes, v));
      continue;
    }
    loaded = outsideIs(-std::numeric_limits<double>::infinity(), loaded, lanes, v);
    if (spec.kind == PoolSpec::Max) {
      result[0] = arith::MaximumFOp::create(e.b, e.loc, result[0], loaded);
      continue;
    }
    // Larger, or a NaN after a number; the first one inside the plane in any case.
    Value isNew = e.both(compare(arith::CmpFPredicate::UGT, loaded, result[0]),
                         compare(arith::CmpFPredicate::ORD, result[0], result[0]));
    Value isFirst =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, result[1], splat(places, 0));
    if (Value inside = laneMask(lanes, [&](int64_t lane) {
          int64_t column = (*lanes.known + lane) * spec.strideW - spec.padLeft + v;
          return column >= 0 && column < spec.width;
        })) {
      isFirst = e.both(isFirst, inside);
    }
    isNew = e.b.createOrFold<arith::OrIOp>(e.loc, isNew, isFirst);
    result[0] = e.select(isNew, loaded, result[0]);
    result[1] = e.select(isNew, splat(places, placeOf(u, v)), result[1]);
    if (y)
      result[2] = e.select(isNew, windowColumn(others, v), result[2]);
  }
  return result;
}

//===- The kernel ----------------------------------------------------------===//

static std::string symbolName(const PoolSpec &spec, const TargetInfo &target) {
  const char *const names[] = {"max", "max_at", "max_grad", "sum", "sum_grad"};
  std::string name = std::string("pdg_pool_") + names[spec.kind] + (spec.isF64 ? "_f64" : "_f32");
  for (int64_t size : {spec.height, spec.width, spec.windowH, spec.windowW, spec.strideH,
                       spec.strideW, spec.padTop, spec.padBottom, spec.padLeft, spec.padRight})
    name += "_" + std::to_string(size);
  return name + "_" + target.name;
}

LLVM::LLVMFuncOp emitPool(ModuleOp module, const PoolSpec &spec, const TargetInfo &target) {
  std::string name = symbolName(spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  LLVM::LLVMFuncOp function =
      startFunction(module, name, {pointer, pointer, pointer, i64, i64}, builder);
  PoolEmitter(builder, function, spec, target).emit();
  return function;
}

} // namespace pdg

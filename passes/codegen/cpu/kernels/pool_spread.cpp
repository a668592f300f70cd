// Emission of the gradients of pooling, in lanes where windows are apart; and of all pooling one
// window after the other.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv_columns.h"
#include "passes/codegen/cpu/kernels/pool_kernel.h"

#include <limits>

using namespace mlir;

namespace pdg {

//===- Windows apart -------------------------------------------------------===//

/// True if no element belongs to two windows, and code in lanes is not too long.
bool PoolEmitter::windowsAreApart() const {
  return spec.strideH >= spec.windowH && spec.strideW >= spec.windowW && isShort();
}

/// True if every element belongs to a window.
bool PoolEmitter::windowsTile() const {
  return spec.strideH == spec.windowH && spec.strideW == spec.windowW && !spec.pads() &&
         spec.height == spec.outHeight() * spec.strideH &&
         spec.width == spec.outWidth() * spec.strideW;
}

void PoolEmitter::spreadPlane(Value g, Value x, Value to) {
  if (!windowsTile())
    emitClear(e, to, e.c(spec.height * spec.width));
  e.loop(e.c(0), e.c(spec.outHeight()), 1, [&](Value i) {
    eachLanes([&](const WindowLanes &lanes) { spreadWindows(i, g, x, to, lanes); });
  });
}

void PoolEmitter::spreadWindows(Value i, Value g, Value x, Value to, const WindowLanes &lanes) {
  Value isWindow =
      laneMask(lanes, [&](int64_t lane) { return *lanes.known + lane < spec.outWidth(); });
  Value from = e.at(g, e.add(e.mul(i, e.c(spec.outWidth())), lanes.first));
  // An element is a sum that begins with +0.
  Value term = e.addF(e.zero(), e.load(from, isWindow));
  Value place;
  if (x)
    place = eachRow(i, startState(), [&](int64_t u, Value row, ValueRange state) {
      return addRow(u, row, x, {}, lanes, state);
    })[1];
  eachRow(i, {}, [&](int64_t u, Value row, ValueRange) {
    Values columns;
    for (int64_t v = 0; v < spec.windowW; ++v) {
      Value isHere = x ? arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, place,
                                               splat(places, placeOf(u, v)))
                             .getResult()
                       : Value();
      columns.push_back(isHere ? e.select(isHere, term, e.zero()) : term);
    }
    Value start = firstElement(to, row, lanes);
    for (int64_t block = 0; block < spec.strideW; ++block) {
      auto isElement = [&](int64_t lane) {
        int64_t at = block * e.vl + lane, window = at / spec.strideW;
        if (at % spec.strideW >= spec.windowW)
          return false;
        int64_t column = lanes.known ? *lanes.known * spec.strideW - spec.padLeft + at : 0;
        return !lanes.known ||
               (*lanes.known + window < spec.outWidth() && column >= 0 && column < spec.width);
      };
      SmallVector<bool> present;
      for (int64_t lane = 0; lane < e.vl; ++lane)
        present.push_back(isElement(lane));
      if (llvm::is_contained(present, true))
        e.store(interleave(columns, block), e.at(start, block * e.vl), e.constantMask(present));
    }
    return Values{};
  });
}

/// The elements [block * vl, (block + 1) * vl) of a row from the columns of all lanes' windows.
Value PoolEmitter::interleave(ArrayRef<Value> columns, int64_t block) {
  Value result = columns[0];
  for (auto [v, column] : llvm::enumerate(columns)) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < e.vl; ++lane) {
      int64_t at = block * e.vl + lane;
      bool isHere = at % spec.strideW == static_cast<int64_t>(v);
      lanes.push_back(isHere ? e.vl + at / spec.strideW : lane);
    }
    result = e.shuffle(result, column, lanes);
  }
  return result;
}

//===- One window after the other ------------------------------------------===//

/// The part of window (i, j) that lies in the plane.
PoolEmitter::Area PoolEmitter::areaOf(Value i, Value j) {
  Value top = e.sub(e.mul(i, e.c(spec.strideH)), e.c(spec.padTop));
  Value left = e.sub(e.mul(j, e.c(spec.strideW)), e.c(spec.padLeft));
  Value bottom = e.min(e.add(top, e.c(spec.windowH)), e.c(spec.height));
  Value right = e.min(e.add(left, e.c(spec.windowW)), e.c(spec.width));
  return {e.max(top, e.c(0)), bottom, e.max(left, e.c(0)), right};
}

Values PoolEmitter::eachPlace(const Area &area, ValueRange state,
                              llvm::function_ref<Values(Value, ValueRange)> step) {
  return e.loop(area.top, area.bottom, 1, state, [&](Value row, ValueRange rows) {
    return e.loop(area.left, area.right, 1, rows, [&](Value column, ValueRange carried) {
      return step(e.add(e.mul(row, e.c(spec.width)), column), carried);
    });
  });
}

/// Where the largest element of an area is.
Value PoolEmitter::largestPlace(const Area &area, Value x) {
  Value start = e.add(e.mul(area.top, e.c(spec.width)), area.left);
  Values best{e.loadScalar(e.at(x, start)), start};
  return eachPlace(area, best, [&](Value place, ValueRange state) {
    Value value = e.loadScalar(e.at(x, place));
    Value isNew = e.both(compare(arith::CmpFPredicate::UGT, value, state[0]),
                         compare(arith::CmpFPredicate::ORD, state[0], state[0]));
    return Values{e.select(isNew, value, state[0]), e.select(isNew, place, state[1])};
  })[1];
}

void PoolEmitter::gatherWindows(Value x, Value y, Value to) {
  e.loop(e.c(0), e.c(spec.outHeight()), 1, [&](Value i) {
    e.loop(e.c(0), e.c(spec.outWidth()), 1, [&](Value j) {
      Area area = areaOf(i, j);
      Value result;
      if (y) {
        result = e.loadScalar(e.at(y, largestPlace(area, x)));
      } else {
        bool isSum = spec.kind == PoolSpec::Sum;
        double start = isSum ? 0 : -std::numeric_limits<double>::infinity();
        result = eachPlace(area, splat(e.elem, start), [&](Value place, ValueRange state) {
          Value value = e.loadScalar(e.at(x, place));
          return Values{isSum ? e.addF(state[0], value)
                              : Value(arith::MaximumFOp::create(e.b, e.loc, state[0], value))};
        })[0];
      }
      e.storeScalar(result, e.at(to, e.add(e.mul(i, e.c(spec.outWidth())), j)));
    });
  });
}

void PoolEmitter::scatterPlane(Value g, Value x, Value to) {
  emitClear(e, to, e.c(spec.height * spec.width));
  e.loop(e.c(0), e.c(spec.outHeight()), 1, [&](Value i) {
    if (x && isShort())
      return eachLanes([&](const WindowLanes &lanes) { scatterLargest(i, g, x, to, lanes); });
    e.loop(e.c(0), e.c(spec.outWidth()), 1, [&](Value j) { scatterWindow(i, j, g, x, to); });
  });
}

/// Finds the largest elements in lanes, then adds to them one after the other.
void PoolEmitter::scatterLargest(Value i, Value g, Value x, Value to, const WindowLanes &lanes) {
  Value place = eachRow(i, startState(), [&](int64_t u, Value row, ValueRange state) {
    return addRow(u, row, x, {}, lanes, state);
  })[1];
  Value row = e.sub(e.mul(i, e.c(spec.strideH)), e.c(spec.padTop));
  Value start = firstElement(to, row, lanes);
  Value from = e.at(g, e.add(e.mul(i, e.c(spec.outWidth())), lanes.first));
  for (int64_t lane = 0; lane < e.vl; ++lane) {
    if (lanes.known && *lanes.known + lane >= spec.outWidth())
      break;
    Value number = vector::ExtractOp::create(e.b, e.loc, place, ArrayRef<int64_t>{lane});
    if (number.getType() != e.i64)
      number = arith::ExtSIOp::create(e.b, e.loc, e.i64, number);
    Value at = e.at(e.at(start, lane * spec.strideW), number);
    e.storeScalar(e.addF(e.loadScalar(at), e.loadScalar(e.at(from, lane))), at);
  }
}

void PoolEmitter::scatterWindow(Value i, Value j, Value g, Value x, Value to) {
  Value term = e.loadScalar(e.at(g, e.add(e.mul(i, e.c(spec.outWidth())), j)));
  Area area = areaOf(i, j);
  auto addTo = [&](Value place) {
    Value at = e.at(to, place);
    e.storeScalar(e.addF(e.loadScalar(at), term), at);
  };
  if (x)
    return addTo(largestPlace(area, x));
  eachPlace(area, {}, [&](Value place, ValueRange) {
    addTo(place);
    return Values{};
  });
}

} // namespace pdg

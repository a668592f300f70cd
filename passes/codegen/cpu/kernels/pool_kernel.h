// What the two halves of the generator of pooling kernels share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/emitter.h"
#include "passes/codegen/cpu/kernels/pool.h"

namespace pdg {

/// Neighbouring windows of one output row, a window in each lane.
struct WindowLanes {
  Value first;                  ///< The output column of lane 0.
  std::optional<int64_t> known; ///< The same if some lane needs a mask; else all lanes are whole.
};

/// Emits the loops over the planes of one kernel.
class PoolEmitter {
public:
  PoolEmitter(mlir::OpBuilder &builder, mlir::LLVM::LLVMFuncOp function, const PoolSpec &spec,
              const TargetInfo &target);
  void emit();

private:
  // Windows in lanes.
  void eachLanes(llvm::function_ref<void(const WindowLanes &)> body);
  bool isWhole(int64_t first) const;
  Value rowIsInside(Value row);
  Value firstElement(Value plane, Value row, const WindowLanes &lanes);
  Values loadBlocks(Value plane, Value row, const WindowLanes &lanes);
  Value windowColumn(const Values &blocks, int64_t v);
  Value outsideIs(double value, Value loaded, const WindowLanes &lanes, int64_t v);
  Value laneMask(const WindowLanes &lanes, llvm::function_ref<bool(int64_t lane)> isPresent);

  /// Calls `step` for the rows of the windows that lie in the plane, carrying `state`.
  Values eachRow(Value i, ValueRange state,
                 llvm::function_ref<Values(int64_t u, Value row, ValueRange state)> step);

  // Results of windows.
  void gatherPlane(Value x, Value y, Value to);
  Values startState();
  Values addRow(int64_t u, Value row, Value x, Value y, const WindowLanes &lanes, ValueRange state);

  void gatherWindows(Value x, Value y, Value to);
  bool isShort() const;

  // Cotangents, where each element belongs to one window at most.
  bool windowsAreApart() const;
  bool windowsTile() const;
  void spreadPlane(Value g, Value x, Value to);
  void spreadWindows(Value i, Value g, Value x, Value to, const WindowLanes &lanes);
  Value interleave(llvm::ArrayRef<Value> columns, int64_t block);

  // In general, one window after the other.
  struct Area {
    Value top, bottom, left, right;
  };
  Area areaOf(Value i, Value j);
  /// Visits the elements of an area, carrying `state`.
  Values eachPlace(const Area &area, ValueRange state,
                   llvm::function_ref<Values(Value place, ValueRange state)> step);
  Value largestPlace(const Area &area, Value x);
  void scatterPlane(Value g, Value x, Value to);
  void scatterWindow(Value i, Value j, Value g, Value x, Value to);
  void scatterLargest(Value i, Value g, Value x, Value to, const WindowLanes &lanes);

  /// The number of a window's element: how far it is from the window's first one in a plane.
  int64_t placeOf(int64_t u, int64_t v) const { return u * spec.width + v; }
  Value splat(mlir::Type type, double value);
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y);

  Emitter e;
  const PoolSpec &spec;
  Value first, second, out, p0, p1;
  mlir::VectorType places; ///< The number of an element of its window in each lane.
};

} // namespace pdg

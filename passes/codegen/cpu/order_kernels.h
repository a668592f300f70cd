// Kernels of ops that walk an axis in order (ir/order_interfaces.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/order_interfaces.h"
#include "passes/codegen/cpu/kernel.h"

namespace pdg {

Kernel buildScanKernel(ScanOpInterface op, KernelBuilder &k);
Kernel buildSortKernel(SortOpInterface op, KernelBuilder &k);
Kernel buildPlaceKernel(PlaceOpInterface op, KernelBuilder &k);

/// A tensor seen along one axis as [outer, n, inner].
struct AxisSizes {
  AxisSizes(mlir::Value tensor, int64_t axis, KernelBuilder &k);
  mlir::AffineExpr outerSize, nSize, innerSize;
  mlir::Value outer, n, inner;
  bool isInnerOne; ///< The axis is the last one, or those behind it have one element.
};

} // namespace pdg

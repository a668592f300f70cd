// The interfaces of ops that walk an axis in order, and what they speak in. Apart from
// ir/interfaces.h, since few files need them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// What a scan folds. The walk is in increasing position, or in decreasing with `reverse`.
///   Sum     y[i] = y[i-1] + x[i], from +0
///   Prod    y[i] = y[i-1] * x[i], from 1
///   Linear  y[i] = a[i] * y[i-1] + b[i], each operation rounded; the first is b[0]
struct ScanForm {
  enum Kind { Sum, Prod, Linear } kind = Sum;
  int64_t axis = 0;
  bool exclusive = false; ///< Sum, Prod: without x[i], so that the first is +0 or 1.
  bool reverse = false;
};

/// How an axis is sorted: stable, NaN last in both directions.
struct SortForm {
  int64_t axis = 0;
  bool descending = false;
};

/// How elements are written at indices.
struct PlaceForm {
  int64_t axis = 0;
  bool adds = false; ///< Added; else the last one written stays.
};

} // namespace pdg

#include "ir/order_interfaces.h.inc"

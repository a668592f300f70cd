// Chooses register tile, cache blocks and packing of a matrix product from its sizes and target.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/gemm.h"

namespace pdg {

/// The constants of one generated product. Counts are elements unless the name says vectors.
struct GemmPlan {
  int vl;       ///< Elements of a vector.
  int mr;       ///< Rows of the register tile.
  int nv;       ///< Vectors in a row of the register tile.
  int64_t nr;   ///< Columns of the register tile, nv * vl.
  int64_t kc;   ///< Terms of a K block; unused with leaves, whose kernels take K at once.
  int64_t mc;   ///< Rows of a block of A, a multiple of mr.
  int64_t nc;   ///< Columns of a packed block of B, a multiple of nr.
  bool packA;   ///< Rows of A are copied to a distance that spares the caches.
  bool packB;   ///< B is copied to panels of nr columns.
  bool gatherB; ///< B is read across its rows, one element of a lane at a time.

  // The work space: offsets of its parts and its end.
  int64_t packedAOffset, leavesOffset, workElements;

  int64_t packedARow() const { return kc + 16; }
};

GemmPlan planGemm(const GemmSpec &spec, const TargetInfo &target);

} // namespace pdg

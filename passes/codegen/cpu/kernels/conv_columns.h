// Turns pictures into the columns that matrix products of convolutions read, block by block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/emitter.h"

namespace pdg {

/// How a convolution uses its work space. A block of columns has `spec.terms()` rows, one for each
/// (c, u, v), of the pixels of `blockRows` output rows.
struct ColumnPlan {
  bool direct;             ///< The picture itself is the block of columns: kernels of one pixel.
  bool pads;               ///< The picture is copied to one with a border of zeros.
  int64_t blockRows;       ///< Output rows of a block; divides their number.
  int64_t stride;          ///< Distance between rows of a block, with room behind each.
  int64_t pictureElements; ///< Work space of the padded picture; a multiple of 16.
  int64_t columnElements;  ///< Work space of a block; a multiple of 16.

  int64_t blockPixels(const ConvSpec &spec) const { return blockRows * spec.outWidth(); }
};

ColumnPlan planColumns(const ConvSpec &spec, const TargetInfo &target);

/// Emits the copying of pictures to columns.
class ColumnEmitter {
public:
  /// `work` has room for the padded picture and then for a block.
  ColumnEmitter(Emitter &e, const ConvSpec &spec, const ColumnPlan &plan, Value work);

  /// Clears the border; once, before all pictures.
  void start();
  /// Takes the picture of an example.
  void setPicture(Value picture);
  /// Fills rows q0 to q1 of the block that begins at output row `row`; returns where the block's
  /// row 0 is.
  Value fill(Value row, Value q0, Value q1);

private:
  void fillRow(Value from, Value to);

  Emitter &e;
  const ConvSpec &spec;
  const ColumnPlan &plan;
  Value padded, columns, picture;
};

/// Emits the clearing of `count` elements.
void emitClear(Emitter &e, Value to, Value count);

/// Emits a copy of `count` elements; the ranges do not overlap.
void emitCopy(Emitter &e, Value from, Value to, Value count);

} // namespace pdg

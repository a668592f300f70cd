// Turns pictures into the columns that matrix products of convolutions read, block by block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/emitter.h"

namespace pdg {

/// How a convolution uses its work space. A block of columns has `spec.terms()` rows, one for each
/// (c, u, v), of the pixels of `blockRows` output rows, or of a part of one row.
struct ColumnPlan {
  bool direct;             ///< The picture itself is the block of columns: kernels of one pixel.
  bool pads;               ///< The picture is copied to one with a border of zeros.
  int64_t blockRows;       ///< Output rows of a block; divides their number.
  int64_t blockColumns;    ///< Output columns of a block: all, unless it has one row.
  int64_t stride;          ///< Distance between rows of a block, with room behind each.
  int64_t pictureElements; ///< Work space of the padded picture; a multiple of 16.
  int64_t columnElements;  ///< Work space of a block; a multiple of 16.

  int64_t blockPixels() const { return blockRows * blockColumns; }
  /// The pixels of the last block of a row, which is shorter; 0 if all blocks are equal.
  int64_t restPixels(const ConvSpec &spec) const { return spec.outWidth() % blockColumns; }
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
  /// A block: where it begins, and how many pixels it has.
  struct Block {
    Value row, column;
    int64_t pixels;
  };
  /// Visits the blocks of a picture in the order of their pixels.
  void eachBlock(llvm::function_ref<void(const Block &)> body);
  /// Where the first pixel of a block is in a plane of the output.
  Value firstPixel(const Block &block);
  /// Fills rows q0 to q1 of a block; returns where its row 0 is.
  Value fill(const Block &block, Value q0, Value q1);

private:
  void fillRow(Value from, Value to, int64_t width);

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

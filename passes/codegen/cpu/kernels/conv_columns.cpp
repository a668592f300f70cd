// Padding of pictures and copying of their windows to columns.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv_columns.h"

#include "llvm/Support/MathExtras.h"

namespace pdg {

using llvm::alignTo;

/// The most output rows whose block still leaves the second-level cache room for the rest; at
/// least so many that a row of the block fills a register tile.
static int64_t chooseBlockRows(const ConvSpec &spec, const TargetInfo &target) {
  int64_t rowBytes = spec.terms() * spec.outWidth() * (spec.isF64 ? 8 : 4), best = 1;
  for (int64_t rows = 1; rows <= spec.outHeight(); ++rows)
    if (spec.outHeight() % rows == 0 &&
        (rows * rowBytes <= target.l2Bytes / 4 || best * spec.outWidth() < 64))
      best = rows;
  return best;
}

/// All columns of a row, or so many that a block of them does not fill the second-level cache.
static int64_t chooseBlockColumns(const ConvSpec &spec, const TargetInfo &target) {
  int64_t columnBytes = spec.terms() * (spec.isF64 ? 8 : 4), width = spec.outWidth();
  if (width * columnBytes <= target.l2Bytes / 2)
    return width;
  return std::min(width, std::max<int64_t>(1, target.l2Bytes / 4 / columnBytes / 64) * 64);
}

ColumnPlan planColumns(const ConvSpec &spec, const TargetInfo &target) {
  ColumnPlan plan;
  plan.pads = spec.padTop || spec.padBottom || spec.padLeft || spec.padRight;
  plan.direct = spec.window() == 1 && spec.strideH == 1 && spec.strideW == 1 && !plan.pads;
  plan.blockRows = plan.direct ? spec.outHeight() : chooseBlockRows(spec, target);
  bool isPart = !plan.direct && plan.blockRows == 1;
  plan.blockColumns = isPart ? chooseBlockColumns(spec, target) : spec.outWidth();
  // A segment is stored in whole vectors: at most 15 elements too far.
  plan.stride = plan.direct ? spec.outPixels() : alignTo(plan.blockPixels(), 16) + 16;
  plan.pictureElements =
      plan.pads ? alignTo(spec.channels * spec.paddedHeight() * spec.paddedWidth(), 16) : 0;
  plan.columnElements = plan.direct ? 0 : alignTo(spec.terms() * plan.stride, 16);
  return plan;
}

void emitClear(Emitter &e, Value to, Value count) {
  Value full = e.mul(e.div(count, e.c(e.vl)), e.c(e.vl)), nothing = e.zero();
  e.loop(e.c(0), full, e.vl, [&](Value i) { e.store(nothing, e.at(to, i)); });
  e.when(e.less(full, count),
         [&] { e.store(nothing, e.at(to, full), e.maskBelow(e.sub(count, full))); });
}

void emitCopy(Emitter &e, Value from, Value to, Value count) {
  Value full = e.mul(e.div(count, e.c(e.vl)), e.c(e.vl));
  e.loop(e.c(0), full, e.vl, [&](Value i) { e.store(e.load(e.at(from, i)), e.at(to, i)); });
  e.when(e.less(full, count), [&] {
    Value mask = e.maskBelow(e.sub(count, full));
    e.store(e.load(e.at(from, full), mask), e.at(to, full), mask);
  });
}

ColumnEmitter::ColumnEmitter(Emitter &e, const ConvSpec &spec, const ColumnPlan &plan, Value work)
    : e(e), spec(spec), plan(plan), padded(work), columns(e.at(work, plan.pictureElements)) {}

void ColumnEmitter::start() {
  if (plan.pads)
    emitClear(e, padded, e.c(plan.pictureElements));
}

void ColumnEmitter::setPicture(Value from) {
  picture = from;
  if (!plan.pads)
    return;
  int64_t rowStride = spec.paddedWidth(), planeStride = rowStride * spec.paddedHeight();
  e.loop(e.c(0), e.c(spec.channels), 1, [&](Value channel) {
    Value source = e.at(from, e.mul(channel, e.c(spec.pixels())));
    Value place = e.at(padded, e.add(e.mul(channel, e.c(planeStride)),
                                     e.c(spec.padTop * rowStride + spec.padLeft)));
    e.loop(e.c(0), e.c(spec.height), 1, [&](Value row) {
      emitCopy(e, e.at(source, e.mul(row, e.c(spec.width))),
               e.at(place, e.mul(row, e.c(rowStride))), e.c(spec.width));
    });
  });
  picture = padded;
}

/// Copies a segment, one output row of one window position.
void ColumnEmitter::fillRow(Value from, Value to, int64_t width) {
  auto vector = [&](Value x, Value mask) {
    Value source = e.at(from, e.mul(x, e.c(spec.strideW)));
    Value loaded =
        spec.strideW == 1 ? e.load(source, mask) : e.gather(source, e.c(spec.strideW), mask);
    e.store(loaded, e.at(to, x));
  };
  int64_t full = width / e.vl * e.vl;
  if (full <= 8 * e.vl)
    for (int64_t x = 0; x < full; x += e.vl)
      vector(e.c(x), {});
  else
    e.loop(e.c(0), e.c(full), e.vl, [&](Value x) { vector(x, {}); });
  // What this stores too far belongs to a later segment, or lies behind the row.
  if (full < width)
    vector(e.c(full), e.maskBelow(e.c(width - full)));
}

void ColumnEmitter::eachBlock(llvm::function_ref<void(const Block &)> body) {
  int64_t rest = plan.restPixels(spec), full = spec.outWidth() - rest;
  e.loop(e.c(0), e.c(spec.outHeight()), plan.blockRows, [&](Value row) {
    e.loop(e.c(0), e.c(full), plan.blockColumns,
           [&](Value column) { body({row, column, plan.blockPixels()}); });
    if (rest)
      body({row, e.c(full), rest});
  });
}

Value ColumnEmitter::firstPixel(const Block &block) {
  return e.add(e.mul(block.row, e.c(spec.outWidth())), block.column);
}

Value ColumnEmitter::fill(const Block &block, Value q0, Value q1) {
  if (plan.direct)
    return e.at(picture, firstPixel(block));
  int64_t width = block.pixels / plan.blockRows;
  int64_t rowStride = spec.paddedWidth(), planeStride = rowStride * spec.paddedHeight();
  e.loop(q0, q1, 1, [&](Value q) {
    Value channel = e.div(q, e.c(spec.window())), place = e.rem(q, e.c(spec.window()));
    Value u = e.div(place, e.c(spec.kernelW)), v = e.rem(place, e.c(spec.kernelW));
    Value line = e.add(e.mul(block.row, e.c(spec.strideH)), e.mul(u, e.c(spec.dilationH)));
    Value start = e.add(e.mul(block.column, e.c(spec.strideW)), e.mul(v, e.c(spec.dilationW)));
    Value from = e.at(picture, e.add(e.mul(channel, e.c(planeStride)),
                                     e.add(e.mul(line, e.c(rowStride)), start)));
    Value to = e.at(columns, e.mul(q, e.c(plan.stride)));
    auto segment = [&](Value r) {
      fillRow(e.at(from, e.mul(r, e.c(spec.strideH * rowStride))), e.at(to, e.mul(r, e.c(width))),
              width);
    };
    if (plan.blockRows <= 8)
      for (int64_t r = 0; r < plan.blockRows; ++r)
        segment(e.c(r));
    else
      e.loop(e.c(0), e.c(plan.blockRows), 1, segment);
  });
  return columns;
}

} // namespace pdg

// Packing of matrix blocks, with and without transposition.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/gemm_pack.h"

namespace pdg {

void emitPackRows(Emitter &e, int nv, Value from, Value stride, Value terms, Value columns,
                  Value to) {
  int64_t nr = int64_t(nv) * e.vl;
  Value full = e.mul(e.div(columns, e.c(nr)), e.c(nr));
  // Whole rows at a time, because rows are what the hardware prefetches.
  e.loop(e.c(0), terms, 1, [&](Value k) {
    Value row = e.at(from, e.mul(k, stride)), place = e.at(to, e.mul(k, e.c(nr)));
    e.loop(e.c(0), full, nr, [&](Value j) {
      Value source = e.at(row, j), panel = e.at(place, e.mul(j, terms));
      for (int v = 0; v < nv; ++v)
        e.store(e.load(e.at(source, v * e.vl)), e.at(panel, v * e.vl));
    });
    e.when(e.less(full, columns), [&] {
      Value source = e.at(row, full), panel = e.at(place, e.mul(full, terms));
      for (int v = 0; v < nv; ++v) {
        Value mask = e.maskBelow(e.sub(e.sub(columns, full), e.c(v * e.vl)));
        e.store(e.load(e.at(source, v * e.vl), mask), e.at(panel, v * e.vl));
      }
    });
  });
}

/// Transposes vl vectors of vl elements by log2(vl) rounds of exchanges.
static void transpose(Emitter &e, Values &rows) {
  int n = e.vl;
  for (int step = 1; step < n; step *= 2) {
    llvm::SmallVector<int64_t> low(n), high(n);
    for (int lane = 0; lane < n; ++lane) {
      low[lane] = lane & step ? n + lane - step : lane;
      high[lane] = lane & step ? n + lane : lane + step;
    }
    for (int i = 0; i < n; ++i) {
      if (i & step)
        continue;
      Value first = rows[i], second = rows[i + step];
      rows[i] = e.shuffle(first, second, low);
      rows[i + step] = e.shuffle(first, second, high);
    }
  }
}

void emitPackTransposed(Emitter &e, int nv, Value from, Value stride, Value terms, Value columns,
                        Value limit, Value to) {
  int64_t nr = int64_t(nv) * e.vl;
  Value last = e.sub(limit, e.c(1));
  // One loop over groups of vl columns, not unrolled: each transposition is long code.
  e.loop(e.c(0), columns, e.vl, [&](Value j) {
    Value panel = e.mul(e.div(j, e.c(nr)), e.c(nr));
    Value place = e.at(e.at(to, e.mul(panel, terms)), e.sub(j, panel));
    Values sources;
    for (int l = 0; l < e.vl; ++l)
      sources.push_back(e.at(from, e.mul(e.min(e.add(j, e.c(l)), last), stride)));
    auto block = [&](Value k, Value mask) {
      Values rows;
      for (Value source : sources)
        rows.push_back(e.load(e.at(source, k), mask));
      transpose(e, rows);
      for (int l = 0; l < e.vl; ++l)
        e.store(rows[l], e.at(place, e.mul(e.add(k, e.c(l)), e.c(nr))));
    };
    Value full = e.mul(e.div(terms, e.c(e.vl)), e.c(e.vl));
    e.loop(e.c(0), full, e.vl, [&](Value k) { block(k, {}); });
    // Rows that this writes too far belong to the next panel, which is written later.
    e.when(e.less(full, terms), [&] { block(full, e.maskBelow(e.sub(terms, full))); });
  });
}

void emitCopyRows(Emitter &e, Value from, Value stride, Value rows, Value length, Value to,
                  Value toStride) {
  Value full = e.mul(e.div(length, e.c(e.vl)), e.c(e.vl));
  Value mask = e.maskBelow(e.sub(length, full));
  e.loop(e.c(0), rows, 1, [&](Value i) {
    Value source = e.at(from, e.mul(i, stride)), place = e.at(to, e.mul(i, toStride));
    e.loop(e.c(0), full, e.vl, [&](Value j) { e.store(e.load(e.at(source, j)), e.at(place, j)); });
    e.when(e.less(full, length),
           [&] { e.store(e.load(e.at(source, full), mask), e.at(place, full), mask); });
  });
}

} // namespace pdg

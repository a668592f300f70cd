// Copies blocks of matrices into the work space, in the order in which register tiles read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/emitter.h"

namespace pdg {

/// Emits the copy of a block of B (`terms` rows of `columns` columns, rows `stride` apart) into
/// panels of `nv` vectors: panel p begins at `to + p * terms * nr`, its row k at k * nr. The last
/// panel is filled up with zeros.
void emitPackRows(Emitter &e, int nv, Value from, Value stride, Value terms, Value columns,
                  Value to);

/// The same from a transposed B, whose columns are `stride` apart. Columns are loaded in whole
/// vectors: those beyond `limit`, counted like `columns`, repeat the last one. Writes up to vl - 1
/// rows behind the last panel; columns of the last panel that no vector reaches stay unwritten.
void emitPackTransposed(Emitter &e, int nv, Value from, Value stride, Value terms, Value columns,
                        Value limit, Value to);

/// Emits the copy of `rows` rows of `length` elements, from rows `stride` to rows `toStride` apart.
void emitCopyRows(Emitter &e, Value from, Value stride, Value rows, Value length, Value to,
                  Value toStride);

} // namespace pdg

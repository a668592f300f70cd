// Emission of a matrix product: cache blocks around a register tile (the scheme of Goto and van de
// Geijn), with leaves of the contracted index summed as a tree inside each tile.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/gemm.h"

#include "passes/codegen/cpu/kernels/emitter.h"
#include "passes/codegen/cpu/kernels/gemm_pack.h"
#include "passes/codegen/cpu/kernels/gemm_plan.h"

using namespace mlir;

namespace pdg {

namespace {

/// A matrix as a register tile reads it: where it begins and how far rows and terms are apart.
struct Operand {
  Value base, rowStride, termStride;
};

/// The part of a row of C that a register tile covers.
struct TileColumns {
  Value first;   ///< Column of C.
  Value operand; ///< Where this column of the K block begins in B.
  int vectors;
  Value mask; ///< Of the last vector; null if it is whole.
};

class GemmEmitter {
public:
  GemmEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, const GemmSpec &spec,
              const TargetInfo &target);
  void emit();

private:
  /// One block of terms; `first` and `last` say whether it begins and ends the sum.
  struct TermBlock {
    Value begin, length, first, last;
  };

  void emitColumnBlock(Value j0, Value j1);
  void emitTermBlock(Value j0, Value j1, const TermBlock &terms);
  void emitColumns(Value j0, Value j1, const TermBlock &terms, Value i0, Value i1,
                   const Operand &a);
  void emitRows(Value i0, Value i1, const TileColumns &columns, const TermBlock &terms,
                const Operand &a);
  void emitTile(int rows, Value i, Value i0, const TileColumns &columns, const TermBlock &terms,
                const Operand &a);
  Values chain(int rows, const TileColumns &columns, Value length, Value a, Value b,
               const Operand &strides, ValueRange init);
  Values leafTree(int rows, const TileColumns &columns, Value a, Value b, const Operand &strides);
  void finish(Values &sums, int rows, Value i, const TileColumns &columns);
  Value columnBase(Value j0, Value j, const TermBlock &terms);

  Emitter e;
  const GemmSpec &spec;
  GemmPlan plan;
  Value a, b, c, bias, work, m0, m1, n0, n1, m, n, k, leaves;
  Value lda, ldb, ldc;
};

} // namespace

GemmEmitter::GemmEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, const GemmSpec &spec,
                         const TargetInfo &target)
    : e(builder, function.getLoc(), spec.isF64, target), spec(spec), plan(planGemm(spec, target)) {
  auto arguments = function.getArguments();
  Value *fields[] = {&a, &b, &c, &bias, &work, &m0, &m1, &n0, &n1, &m, &n, &k, &leaves};
  for (auto [field, argument] : llvm::zip_equal(fields, arguments))
    *field = argument;
  auto known = [&](std::optional<int64_t> size, Value otherwise) {
    return size ? e.c(*size) : otherwise;
  };
  m = known(spec.m, m);
  n = known(spec.n, n);
  k = known(spec.k, k);
  lda = known(spec.lda, spec.transA ? m : k);
  ldb = known(spec.ldb, spec.transB ? k : n);
  ldc = known(spec.ldc, n);
}

void GemmEmitter::emit() {
  if (plan.packB)
    e.loop(n0, n1, plan.nc,
           [&](Value j) { emitColumnBlock(j, e.min(e.add(j, e.c(plan.nc)), n1)); });
  else
    emitColumnBlock(n0, n1);
}

void GemmEmitter::emitColumnBlock(Value j0, Value j1) {
  Value yes = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  if (spec.leafK)
    return emitTermBlock(j0, j1, {e.c(0), k, yes, yes});
  // An empty sum is a sum: at least one block.
  e.loop(e.c(0), e.max(k, e.c(1)), plan.kc, [&](Value begin) {
    Value length = e.min(e.c(plan.kc), e.sub(k, begin));
    Value isFirst = spec.accumulate ? e.equal(e.c(0), e.c(1)) : e.equal(begin, e.c(0));
    Value last = e.less(e.sub(k, e.c(1)), e.add(begin, e.c(plan.kc)));
    emitTermBlock(j0, j1, {begin, length, isFirst, last});
  });
}

void GemmEmitter::emitTermBlock(Value j0, Value j1, const TermBlock &terms) {
  if (plan.packB && spec.transB)
    emitPackTransposed(e, plan.nv, e.at(b, e.add(e.mul(j0, ldb), terms.begin)), ldb, terms.length,
                       e.sub(j1, j0), e.sub(n, j0), work);
  else if (plan.packB)
    emitPackRows(e, plan.nv, e.at(b, e.add(e.mul(terms.begin, ldb), j0)), ldb, terms.length,
                 e.sub(j1, j0), work);

  Value one = e.c(1), rowStride = spec.transA ? one : lda, termStride = spec.transA ? lda : one;
  e.loop(m0, m1, plan.mc, [&](Value i0) {
    Value i1 = e.min(e.add(i0, e.c(plan.mc)), m1);
    Value base = e.at(a, e.add(e.mul(i0, rowStride), e.mul(terms.begin, termStride)));
    Operand operand{base, rowStride, termStride};
    if (plan.packA) {
      Value packed = e.at(work, plan.packedAOffset), packedRow = e.c(plan.packedARow());
      emitCopyRows(e, base, lda, e.sub(i1, i0), terms.length, packed, packedRow);
      operand = {packed, packedRow, one};
    }
    emitColumns(j0, j1, terms, i0, i1, operand);
  });
}

/// Where column j of the term block begins, in B or in its packed copy of columns from j0 on.
Value GemmEmitter::columnBase(Value j0, Value j, const TermBlock &terms) {
  if (plan.packB)
    return e.at(work, e.mul(e.sub(j, j0), terms.length));
  if (spec.transB)
    return e.at(b, e.add(e.mul(j, ldb), terms.begin));
  return e.at(b, e.add(e.mul(terms.begin, ldb), j));
}

void GemmEmitter::emitColumns(Value j0, Value j1, const TermBlock &terms, Value i0, Value i1,
                              const Operand &a) {
  e.loop(j0, e.sub(j1, e.c(plan.nr - 1)), plan.nr,
         [&](Value j) { emitRows(i0, i1, {j, columnBase(j0, j, terms), plan.nv, {}}, terms, a); });
  Value rest = e.add(j0, e.mul(e.div(e.sub(j1, j0), e.c(plan.nr)), e.c(plan.nr)));
  Value base = columnBase(j0, rest, terms);
  if (spec.n) {
    int64_t columns = *spec.n % plan.nr;
    if (!columns)
      return;
    int vectors = llvm::divideCeil(columns, plan.vl);
    Value mask = e.maskBelow(e.c(columns - (vectors - 1) * plan.vl));
    e.when(e.less(rest, j1), [&] { emitRows(i0, i1, {rest, base, vectors, mask}, terms, a); });
    return;
  }
  e.loop(rest, j1, plan.vl, [&](Value j) {
    Value inside = e.sub(j, rest);
    Value operand = e.at(base, plan.gatherB ? e.mul(inside, ldb) : inside);
    emitRows(i0, i1, {j, operand, 1, e.maskBelow(e.sub(j1, j))}, terms, a);
  });
}

void GemmEmitter::emitRows(Value i0, Value i1, const TileColumns &columns, const TermBlock &terms,
                           const Operand &a) {
  e.loop(i0, e.sub(i1, e.c(plan.mr - 1)), plan.mr,
         [&](Value i) { emitTile(plan.mr, i, i0, columns, terms, a); });
  Value rows = e.sub(i1, i0), rest = e.rem(rows, e.c(plan.mr));
  Value i = e.sub(i1, rest);
  if (spec.m) {
    if (int64_t count = *spec.m % plan.mr)
      e.when(e.less(i, i1), [&] { emitTile(count, i, i0, columns, terms, a); });
    return;
  }
  // The binary digits of the rest.
  for (int count = llvm::bit_floor(unsigned(plan.mr - 1)); count > 0; count /= 2) {
    Value taken = e.b.createOrFold<arith::AndIOp>(e.loc, rest, e.c(count));
    e.when(e.equal(taken, e.c(count)), [&] { emitTile(count, i, i0, columns, terms, a); });
    i = e.add(i, taken);
  }
}

void GemmEmitter::emitTile(int rows, Value i, Value i0, const TileColumns &columns,
                           const TermBlock &terms, const Operand &a) {
  Value corner = e.at(c, e.add(e.mul(i, ldc), columns.first));
  auto place = [&](int row, int vector) {
    return e.at(e.at(corner, e.mul(e.c(row), ldc)), vector * plan.vl);
  };
  auto mask = [&](int vector) { return vector == columns.vectors - 1 ? columns.mask : Value(); };
  Value aTile = e.at(a.base, e.mul(e.sub(i, i0), a.rowStride));

  Values sums;
  if (spec.leafK) {
    sums = leafTree(rows, columns, aTile, columns.operand, a);
  } else {
    // A later block goes on where the earlier one stopped, so the sum stays one chain.
    Values init = e.choose(
        terms.first, [&] { return Values(rows * columns.vectors, e.zero()); },
        [&] {
          Values old;
          for (int row = 0; row < rows; ++row)
            for (int v = 0; v < columns.vectors; ++v)
              old.push_back(e.load(place(row, v), mask(v)));
          return old;
        });
    sums = chain(rows, columns, terms.length, aTile, columns.operand, a, init);
  }
  if (spec.epilogue != Epilogue::None)
    sums = e.choose(
        terms.last,
        [&] {
          Values finished = sums;
          finish(finished, rows, i, columns);
          return finished;
        },
        [&] { return sums; });
  for (int row = 0; row < rows; ++row)
    for (int v = 0; v < columns.vectors; ++v)
      e.store(sums[row * columns.vectors + v], place(row, v), mask(v));
}

/// Adds `length` terms to a tile of sums. Accumulators and pointers are carried by the loop, so
/// that no index arithmetic is left in it.
Values GemmEmitter::chain(int rows, const TileColumns &columns, Value length, Value aTile,
                          Value bTile, const Operand &strides, ValueRange init) {
  int vectors = columns.vectors;
  Values rowOffsets, carried(init);
  for (int row = 0; row < rows; ++row)
    rowOffsets.push_back(e.mul(e.c(row), strides.rowStride));
  Value bStep = plan.packB ? e.c(plan.nr) : plan.gatherB ? e.c(1) : ldb;
  Value gatherStep = e.mul(e.c(plan.vl), ldb);
  carried.append({aTile, bTile});
  Values results = e.loop(e.c(0), length, 1, carried, [&](Value, ValueRange arguments) {
    Value aTerm = arguments[rows * vectors], bTerm = arguments[rows * vectors + 1];
    Values sums(arguments.drop_back(2)), bRow;
    for (int v = 0; v < vectors; ++v) {
      Value mask = v == vectors - 1 && !plan.packB ? columns.mask : Value();
      bRow.push_back(plan.gatherB ? e.gather(e.at(bTerm, e.mul(e.c(v), gatherStep)), ldb, mask)
                                  : e.load(e.at(bTerm, v * plan.vl), mask));
    }
    for (int row = 0; row < rows; ++row) {
      Value element = e.broadcast(e.loadScalar(e.at(aTerm, rowOffsets[row])));
      for (int v = 0; v < vectors; ++v) {
        Value &sum = sums[row * vectors + v];
        sum = e.fma(element, bRow[v], sum);
      }
    }
    sums.append({e.at(aTerm, strides.termStride), e.at(bTerm, bStep)});
    return sums;
  });
  results.pop_back_n(2);
  return results;
}

/// Sums each leaf as a chain and joins the leaves like a binary counter: leaf l is the right child
/// of as many joins as l ends in one bits, and each level saves one left sibling.
Values GemmEmitter::leafTree(int rows, const TileColumns &columns, Value aTile, Value bTile,
                             const Operand &strides) {
  int count = rows * columns.vectors;
  Value saved = e.at(work, plan.leavesOffset), length = e.div(k, leaves);
  Value bStep = plan.gatherB ? e.c(1) : ldb;
  Values zeros(count, e.zero());
  return e.loop(e.c(0), leaves, 1, zeros, [&](Value leaf, ValueRange) {
    Value begin = e.mul(leaf, length);
    Values sums = chain(rows, columns, length, e.at(aTile, e.mul(begin, strides.termStride)),
                        e.at(bTile, e.mul(begin, bStep)), strides, zeros);
    Value level = LLVM::CountTrailingZerosOp::create(e.b, e.loc, e.i64, e.add(leaf, e.c(1)),
                                                     /*is_zero_poison=*/true);
    auto slot = [&](Value level, int index) {
      return e.at(e.at(saved, e.mul(level, e.c(count * plan.vl))), index * plan.vl);
    };
    sums = e.loop(e.c(0), level, 1, sums, [&](Value joined, ValueRange right) {
      Values result;
      for (int index = 0; index < count; ++index)
        result.push_back(e.addF(e.load(slot(joined, index)), right[index]));
      return result;
    });
    e.when(e.less(e.add(leaf, e.c(1)), leaves), [&] {
      for (int index = 0; index < count; ++index)
        e.store(sums[index], slot(level, index));
    });
    return sums;
  });
}

void GemmEmitter::finish(Values &sums, int rows, Value i, const TileColumns &columns) {
  bool hasBias = spec.epilogue == Epilogue::Bias || spec.epilogue == Epilogue::BiasRelu;
  bool hasRelu = spec.epilogue == Epilogue::Relu || spec.epilogue == Epilogue::BiasRelu;
  Values biases;
  for (int row = 0; hasBias && spec.biasPerRow && row < rows; ++row)
    biases.push_back(e.broadcast(e.loadScalar(e.at(e.at(bias, i), row))));
  for (int v = 0; hasBias && !spec.biasPerRow && v < columns.vectors; ++v)
    biases.push_back(e.load(e.at(e.at(bias, columns.first), v * plan.vl),
                            v == columns.vectors - 1 ? columns.mask : Value()));
  for (int index = 0; index < rows * columns.vectors; ++index) {
    if (hasBias)
      sums[index] = e.addF(
          sums[index], biases[spec.biasPerRow ? index / columns.vectors : index % columns.vectors]);
    if (hasRelu)
      sums[index] = e.relu(sums[index]);
  }
}

static std::string symbolName(const GemmSpec &spec, const TargetInfo &target) {
  std::string name = spec.isF64 ? "pdg_gemm_f64_" : "pdg_gemm_f32_";
  name += spec.transA ? 't' : 'n';
  name += spec.transB ? 't' : 'n';
  auto append = [&](const char *what, std::optional<int64_t> size) {
    if (size)
      name += std::string("_") + what + std::to_string(*size);
  };
  append("m", spec.m);
  append("n", spec.n);
  append("k", spec.k);
  append("lda", spec.lda);
  append("ldb", spec.ldb);
  append("ldc", spec.ldc);
  if (!spec.m)
    append("um", spec.usualM);
  if (spec.leafK)
    name += "_leaves";
  if (spec.accumulate)
    name += "_add";
  name += std::array{"", "_bias", "_relu", "_bias_relu"}[int(spec.epilogue)];
  if (spec.biasPerRow)
    name += "_rows";
  return name + "_" + target.name;
}

LLVM::LLVMFuncOp emitGemm(ModuleOp module, const GemmSpec &spec, const TargetInfo &target) {
  std::string name = symbolName(spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  SmallVector<Type> arguments(5, pointer);
  arguments.append(8, i64);
  LLVM::LLVMFuncOp function = startFunction(module, name, arguments, builder);
  GemmEmitter(builder, function, spec, target).emit();
  return function;
}

std::pair<Value, Value> emitTaskRange(OpBuilder &builder, Location loc, Value extent, int64_t step,
                                      Value task, Value tasks) {
  Emitter e(builder, loc, /*isF64=*/false, avx2Target());
  Value units = e.div(e.add(extent, e.c(step - 1)), e.c(step));
  auto bound = [&](Value index) {
    return e.min(extent, e.mul(e.c(step), e.div(e.mul(units, index), tasks)));
  };
  return {bound(task), bound(e.add(task, e.c(1)))};
}

} // namespace pdg

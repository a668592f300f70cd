// Loops over values that emit MLIR: code that is repeated, not copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/emit_value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

namespace pdg {

/// Emits a loop that applies `step` to `state` `times` times (in plain numbers: `repeated` of
/// ir/math/random.h). Needs the dialect scf as well.
template <size_t N, class Step>
std::array<Emitted, N> repeated(int times, std::array<Emitted, N> state, Step step) {
  mlir::OpBuilder &b = *state[0].builder;
  mlir::Location loc = state[0].loc;
  auto number = [&](int64_t n) -> mlir::Value {
    return mlir::arith::ConstantIntOp::create(b, loc, n, 64);
  };
  llvm::SmallVector<mlir::Value> init;
  for (const Emitted &each : state)
    init.push_back(each.value);
  auto loop = mlir::scf::ForOp::create(b, loc, number(0), number(times), number(1), init);
  auto from = [&](mlir::ValueRange values) {
    std::array<Emitted, N> result = state;
    for (size_t i = 0; i < N; ++i)
      result[i].value = values[i];
    return result;
  };
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  llvm::SmallVector<mlir::Value> next;
  for (const Emitted &each : step(from(loop.getRegionIterArgs())))
    next.push_back(each.value);
  mlir::scf::YieldOp::create(b, loc, next);
  return from(loop.getResults());
}

} // namespace pdg

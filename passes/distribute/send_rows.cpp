// Marks what works on few rows of a large table, so that rows travel and not the table.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dims.h"
#include "ir/ops/control.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SENDROWS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Finds the ops of a program that read or add rows of tables.
class RowOps {
public:
  /// Whether `op` is better made of whole batches: the table is larger than what it takes or gives.
  bool isSmallerThanTable(Operation *op);

private:
  std::optional<int64_t> bytesOf(Value value);
  ShapeAnalysis shapes_;
};

std::optional<int64_t> RowOps::bytesOf(Value value) {
  std::optional<int64_t> elements = shapes_.elementBoundOf(value);
  int64_t bytes = sizeOf(*toDType(value.getType()));
  if (!elements || llvm::MulOverflow(bytes, *elements, bytes))
    return std::nullopt;
  return bytes;
}

bool RowOps::isSmallerThanTable(Operation *op) {
  Value table, rows;
  auto checked = dyn_cast<CheckedOpInterface>(op);
  std::optional<RunCheck> check = checked ? checked.getRunCheck() : std::nullopt;
  if (isa<ScatterOpInterface>(op)) {
    table = op->getResult(0);
    rows = op->getOperand(1);
  } else if (check && check->kind == RunCheck::IndexInRange && check->axis == 0 &&
             op->getOperand(check->table).getDefiningOp<ReadOp>()) {
    table = op->getOperand(check->table);
    rows = op->getResult(0);
  } else {
    return false;
  }
  std::optional<int64_t> all = bytesOf(table), some = bytesOf(rows);
  return all && some && *some < *all / 2;
}

struct SendRowsPass : impl::SendRowsBase<SendRowsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      RowOps rows;
      program.walk([&](Operation *op) {
        if (rows.isSmallerThanTable(op))
          op->setAttr("pdg.whole", UnitAttr::get(&getContext()));
      });
    }
  }
};

} // namespace
} // namespace pdg

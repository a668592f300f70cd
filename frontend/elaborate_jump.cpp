// while, break and continue. A loop is left at the end of a round only: what follows a `break` or a
// `continue` that only the run decides is built under a condition.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/control.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

void Elaborator::execJump(const Stmt &stmt) {
  round_.runs = false;
  if (stmt.kind == StmtKind::Break)
    round_.goesOn = false;
}

/// Builds the statements from the `from`-th on, which run if `condition` is true.
void Elaborator::execRest(Value condition, ArrayRef<StmtPtr> stmts, size_t from) {
  // Where the round is over, the loop goes on as it was said.
  auto *goesOn = round_.goesOn.get<Value>();
  Round over{false, goesOn && *goesOn == condition ? Datum(false) : round_.goesOn};
  auto vars = assignedVars(stmts, from);
  SmallVector<Datum> before;
  for (const Decl *decl : vars)
    before.push_back(frame_->names[decl]);
  branch(
      condition, stmts[from]->span, vars, /*wantsValue=*/false,
      [&] {
        exec(stmts.drop_front(from));
        checkCarried(vars, before, "where the round may end", "after the statements that follow",
                     stmts[from]->span);
        return Datum();
      },
      [&] {
        round_ = over;
        return Datum();
      });
}

//===- while ---------------------------------------------------------------===//

void Elaborator::execWhile(const WhileStmt &stmt) {
  std::optional<int64_t> limit = INT64_MAX;
  if (stmt.limit) {
    Operand most = evalOperand(*stmt.limit);
    limit = constantInt(most, "the number of rounds after 'max'");
    if (limit && *limit < 0) {
      emit.error(DiagCode::PD0105, most.span,
                 absl::StrCat("expected a number of rounds from 0 on, found ", *limit));
      limit = std::nullopt;
    }
  }
  if (isTooDeep(stmt.span))
    return;
  LoopVars vars = carriedVars(assignedVars(stmt), stmt.span);
  Value lower = emit.constant(int64_t{0}, DType::I64, stmt.span);
  Value upper = emit.constant(limit.value_or(0), DType::I64, stmt.span);
  auto loop = ForOp::create(emit.b, emit.loc(stmt.span), lower, upper, vars.inits);
  runLoopBody(loop, loop.getBody().getArgument(0), vars, stmt.span,
              [&] { execWhileRound(stmt, vars.decls); });
}

/// A round begins with the condition: while c { ... } is for ... { if not c { break } ... }.
void Elaborator::execWhileRound(const WhileStmt &stmt, const std::vector<const Decl *> &vars) {
  Operand condition = evalOperand(*stmt.condition);
  SmallVector<Datum> before;
  for (const Decl *decl : vars)
    before.push_back(frame_->names[decl]);
  auto body = [&] {
    exec(stmt.body.stmts);
    checkCarried(vars, before, "before the loop", "after a round", stmt.span);
    return Datum();
  };
  auto end = [&] {
    round_ = {false, false};
    return Datum();
  };
  auto known = constantBool(condition.value);
  Value value = known || condition.value.isPoison() || condition.value.isNumber()
                    ? Value()
                    : tensor(condition);
  if (value && isConditionTensor(value.getType())) {
    branch(value, stmt.condition->span, vars, /*wantsValue=*/false, body, end);
    return;
  }
  if (value || condition.value.isNumber())
    typeError(condition.span, "a scalar bool as a condition", condition.value)
        .withHint("compare it: x > 0");
  if (known && !*known)
    end();
  else
    body();
}

} // namespace pdg

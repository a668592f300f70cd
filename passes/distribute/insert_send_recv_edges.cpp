// Names edges after the variable that is read or updated, or after the place in the script.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/insert_send_recv_edges.h"

#include "ir/ops/variable.h"
#include "ir/program_tables.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pdg {

/// How many values are looked at to find the variable that a value updates.
static constexpr unsigned SearchLimit = 256;

/// The variable whose state `name` is.
static NameAttr withoutState(NameAttr name) {
  return NameAttr::get(name.getContext(), name.getPath(), StringAttr(), name.getSlice(),
                       name.getReplica());
}

NameAttr placeName(Location loc, StringRef otherwise) {
  std::string place = locationText(loc);
  StringRef path = place.empty() ? otherwise : StringRef(place);
  return NameAttr::get(StringAttr::get(loc.getContext(), path.substr(path.rfind('/') + 1)));
}

EdgeNames::EdgeNames(ProgramOp program, const RoleAnalysis &roles) : roles_(roles) {
  for (auto variable : program->getParentOfType<ModuleOp>().getOps<VariableOp>())
    if (variable.getParam())
      parameters_[withoutState(variable.getName())] = variable.getType();
}

/// The variable that is next to `value` among those that `role` computes from it.
static NameAttr findUpdated(Value value, RoleId role, const RoleAnalysis &roles) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size() && i < SearchLimit; ++i)
    for (Operation *user : values[i].getUsers()) {
      if (!roles.rolesOf(user).contains(role) || isLoopOrCondition(user))
        continue;
      if (auto assign = dyn_cast<AssignOp>(user))
        return withoutState(assign.getName());
      values.insert(user->result_begin(), user->result_end());
    }
  return {};
}

EdgeNames::Subject EdgeNames::subjectOf(Value value, RoleId to) {
  if (auto read = value.getDefiningOp<ReadOp>())
    return {read.getName(), EdgeKind::Variable};
  if (NameAttr updated = findUpdated(value, to, roles_))
    return {updated,
            parameters_.lookup(updated) == value.getType() ? EdgeKind::Gradient : EdgeKind::Value};
  return {placeName(value.getLoc(), "value"), EdgeKind::Value};
}

EdgeAttr EdgeNames::make(Subject subject, RoleId from, RoleId to, bool first) {
  MLIRContext *context = subject.name.getContext();
  int64_t number = counts_[{subject.name, static_cast<int64_t>(subject.kind)}]++;
  auto edge = EdgeAttr::get(context, subject.name, subject.kind, number, roleAttr(from, context),
                            roleAttr(to, context), first);
  edges_.push_back(edge);
  return edge;
}

EdgeAttr EdgeNames::edgeOf(Value value, RoleId to) {
  Operation *op = value.getDefiningOp();
  bool isJoined = op && joinsTrainers(op);
  RoleId from = roles_.placeOf(value);
  // Joined values have the name of what was joined.
  Subject subject = subjectOf(value, isJoined ? from : to);
  if (isJoined)
    subject.kind = EdgeKind::Joined;
  return make(subject, from, to, from == TrainerRole);
}

EdgeAttr EdgeNames::partsOf(Operation *collective, RoleId to) {
  return make(subjectOf(collective->getResult(0), to), TrainerRole, to, false);
}

EdgeAttr EdgeNames::roundsOf(Operation *loop, RoleId to) {
  return make({placeName(loop->getLoc(), "loop"), EdgeKind::Control}, TrainerRole, to, true);
}

} // namespace pdg

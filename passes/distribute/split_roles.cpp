// Moves what each role runs into a module of its own.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/distribute/insert_send_recv_roles.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SPLITROLES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The role that runs a statement of a program.
RoleAttr placeOf(Operation *statement) {
  auto place = statement->getAttrOfType<RoleAttr>("pdg.place");
  return place ? place : RoleAttr::get(statement->getContext(), RoleKind::Trainer);
}

/// Builds the modules of all roles from a program whose statements have roles.
class RoleSplitter {
public:
  RoleSplitter(ModuleOp whole, ClusterAttr cluster) : whole_(whole), cluster_(cluster) {}
  LogicalResult split(ProgramOp program);

private:
  void addModule(RoleAttr role, Location loc);
  LogicalResult moveStatements(ProgramOp program);
  LogicalResult declareVariables();
  void declareSources();

  ModuleOp whole_;
  ClusterAttr cluster_;
  SmallVector<ModuleOp> modules_; ///< By role number.
  SmallVector<ProgramOp> programs_;
  DenseMap<Attribute, RoleId> homes_; ///< Where variables are used.
};

void RoleSplitter::addModule(RoleAttr role, Location loc) {
  std::string name = role.isTrainer() ? "trainer" : "server_" + std::to_string(role.getIndex());
  OpBuilder b = OpBuilder::atBlockEnd(whole_.getBody());
  auto module = ModuleOp::create(b, whole_.getLoc(), name);
  module->setAttr("pdg.role", role);
  for (StringRef attribute : {"pdg.edges", "pdg.cluster"})
    if (Attribute value = whole_->getAttr(attribute))
      module->setAttr(attribute, value);
  b.setInsertionPointToEnd(module.getBody());
  auto program = ProgramOp::create(b, loc);
  b.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  YieldOp::create(b, loc);
  modules_.push_back(module);
  programs_.push_back(program);
}

/// The name of the variable that `op` reads or assigns, or null.
static Attribute variableOf(Operation *op) {
  return isa<ReadOp, AssignOp>(op) ? op->getAttr("name") : Attribute();
}

LogicalResult RoleSplitter::moveStatements(ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front().without_terminator())) {
    RoleAttr place = placeOf(&op);
    RoleId role = roleId(place);
    if (role >= modules_.size())
      return op.emitOpError("expects one of the cluster's roles, got ") << place;
    WalkResult uses = op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *other = operand.getDefiningOp();
            other && other->getParentOp() == program && placeOf(other) != place) {
          inner->emitOpError("expects operands of ")
              << place.str() << ", got one of " << placeOf(other).str();
          return WalkResult::interrupt();
        }
      if (Attribute name = variableOf(inner)) {
        auto [home, isNew] = homes_.try_emplace(name, role);
        if (!isNew && home->second != role) {
          inner->emitOpError("expects the variable to live in ")
              << place.str() << ", but " << roleAttr(home->second, name.getContext()).str()
              << " uses it too";
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    if (uses.wasInterrupted())
      return failure();
  }
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front().without_terminator())) {
    ProgramOp target = programs_[roleId(placeOf(&op))];
    op.removeAttr("pdg.place");
    op.moveBefore(target.getBody().front().getTerminator());
  }
  return success();
}

LogicalResult RoleSplitter::declareVariables() {
  for (auto variable : llvm::make_early_inc_range(whole_.getOps<VariableOp>())) {
    auto home = variable->getAttrOfType<RoleAttr>("pdg.home");
    auto used = homes_.find(variable.getName());
    RoleId role = home ? roleId(home) : used != homes_.end() ? used->second : TrainerRole;
    if (role >= modules_.size() || (used != homes_.end() && used->second != role))
      return variable.emitOpError("expects to live where it is used, got ") << home;
    variable->moveBefore(programs_[role]);
  }
  return success();
}

/// Sources are where they are read.
void RoleSplitter::declareSources() {
  for (auto source : llvm::make_early_inc_range(whole_.getOps<SourceOp>())) {
    for (ProgramOp program : programs_)
      if (auto uses = SymbolTable::getSymbolUses(source.getSymNameAttr(), &program.getBody());
          uses && !uses->empty())
        OpBuilder(program).clone(*source);
    source.erase();
  }
}

LogicalResult RoleSplitter::split(ProgramOp program) {
  for (RoleId role = 0; role <= cluster_.getServers(); ++role)
    addModule(roleAttr(role, whole_.getContext()), program.getLoc());
  if (failed(moveStatements(program)) || failed(declareVariables()))
    return failure();
  program.erase();
  declareSources();
  whole_->removeAttr("pdg.edges");
  return success();
}

struct SplitRolesPass : impl::SplitRolesBase<SplitRolesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ClusterAttr cluster = ClusterAttr::of(module);
    auto programs = llvm::to_vector(module.getOps<ProgramOp>());
    if (!cluster || programs.size() != 1) {
      module.emitError("expects one program and the attribute 'pdg.cluster'");
      return signalPassFailure();
    }
    if (failed(RoleSplitter(module, cluster).split(programs.front())))
      signalPassFailure();
  }
};

} // namespace
} // namespace pdg

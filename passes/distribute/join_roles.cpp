// Joins the modules of all roles into one graph: what was sent takes the place of what was
// received, copies of a loop or condition become one.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/variable.h"
#include "passes/distribute/join_roles_merge.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_JOINROLES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The role of a module, or null.
RoleAttr roleOf(ModuleOp module) { return module->getAttrOfType<RoleAttr>("pdg.role"); }

/// The programs of all roles, by role number.
LogicalResult findPrograms(ModuleOp module, std::map<RoleId, ProgramOp> &programs) {
  for (auto part : module.getOps<ModuleOp>()) {
    auto inside = llvm::to_vector(part.getOps<ProgramOp>());
    RoleAttr role = roleOf(part);
    if (!role || role.isAnywhere() || inside.size() != 1)
      return part.emitError("expects the attribute 'pdg.role' and one program");
    if (!programs.try_emplace(roleId(role), inside.front()).second)
      return part.emitError("expects one module of ") << role.str();
  }
  return success();
}

/// Declares the variables of all roles, which are at home there, and the sources.
LogicalResult moveDeclarations(ModuleOp module, ProgramOp joined) {
  llvm::DenseSet<Attribute> names;
  llvm::StringMap<SourceOp> sources;
  for (auto part : module.getOps<ModuleOp>()) {
    for (auto source : llvm::make_early_inc_range(part.getOps<SourceOp>())) {
      auto [other, isNew] = sources.try_emplace(source.getSymName(), source);
      if (isNew)
        source->moveBefore(joined);
      else if (other->second->getAttrDictionary() != source->getAttrDictionary())
        return source.emitOpError("expects to be the same in all roles");
    }
    for (auto variable : llvm::make_early_inc_range(part.getOps<VariableOp>())) {
      if (!names.insert(variable.getName()).second)
        return variable.emitOpError("declares the variable '")
               << variable.getName().str() << "' in a second role";
      variable->setAttr("pdg.home", roleOf(part));
      variable->moveBefore(joined);
    }
  }
  return success();
}

struct JoinRolesPass : impl::JoinRolesBase<JoinRolesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::map<RoleId, ProgramOp> programs;
    if (failed(findPrograms(module, programs)))
      return signalPassFailure();
    if (programs.empty())
      return;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto joined = ProgramOp::create(b, programs.begin()->second.getLoc());
    if (failed(mergePrograms(programs, joined)) || failed(moveDeclarations(module, joined)))
      return signalPassFailure();
    for (auto part : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
      part.erase();
  }
};

} // namespace
} // namespace pdg

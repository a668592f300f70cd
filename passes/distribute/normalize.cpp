// Brings a graph into a form that depends on nothing but what it computes, so that two graphs can
// be compared as text.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/Support/raw_ostream.h"

#include <set>

namespace pdg {
#define GEN_PASS_DEF_NORMALIZE
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Something whose order of reads and writes matters: a variable, a kind of memory, the data.
struct Touch {
  const void *what;
  bool writes;
};

/// What `op` touches, with all ops inside of it.
SmallVector<Touch> touchesOf(Operation *op) {
  static const char data = 0;
  SmallVector<Touch> touches;
  op->walk([&](Operation *inner) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!effects) {
      if (!inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        touches.push_back({&data, true});
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &effect : instances) {
      bool isVariable = effect.getResource() == VariableResource::get();
      Attribute name = isVariable ? inner->getAttr("name") : Attribute();
      touches.push_back({name ? name.getAsOpaquePointer() : effect.getResource(),
                         !isa<MemoryEffects::Read>(effect.getEffect())});
    }
  });
  return touches;
}

/// Sorts the ops of a block, and of the blocks inside, by what they are: of those that depend on no
/// other, the least text comes first. Values have the numbers of this order.
class Sorter {
public:
  /// Sorts `block` and gives the text of its ops.
  std::string sort(Block &block, unsigned depth);

private:
  struct Node {
    Operation *op;
    unsigned waitsFor = 0;
    SmallVector<unsigned, 4> before; ///< The nodes that wait for this one.
  };
  void connect(Block &block, SmallVectorImpl<Node> &nodes);
  std::string textOf(Operation *op, unsigned depth);

  DenseMap<Value, std::string> names_;
};

void Sorter::connect(Block &block, SmallVectorImpl<Node> &nodes) {
  struct State {
    std::optional<unsigned> writer;
    SmallVector<unsigned> readers;
  };
  DenseMap<const void *, State> states;
  DenseMap<Operation *, unsigned> index;
  std::set<std::pair<unsigned, unsigned>> known;
  auto order = [&](unsigned first, unsigned then) {
    if (first == then || !known.insert({first, then}).second)
      return;
    nodes[first].before.push_back(then);
    ++nodes[then].waitsFor;
  };
  for (Operation &op : block.without_terminator()) {
    unsigned i = nodes.size();
    index[&op] = i;
    nodes.push_back({&op, 0, {}});
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *other = operand.getDefiningOp(); other && other->getBlock() == &block)
          order(index.at(other), i);
    });
    for (Touch touch : touchesOf(&op)) {
      State &state = states[touch.what];
      if (state.writer)
        order(*state.writer, i);
      if (!touch.writes) {
        state.readers.push_back(i);
        continue;
      }
      for (unsigned reader : state.readers)
        order(reader, i);
      state.readers.clear();
      state.writer = i;
    }
  }
}

/// What `op` computes. Requires: the values that it uses have names.
std::string Sorter::textOf(Operation *op, unsigned depth) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << op->getName() << op->getAttrDictionary() << "(";
  for (Value operand : op->getOperands())
    out << names_.lookup(operand) << " ";
  out << ") -> (" << op->getResultTypes() << ")";
  for (Region &region : op->getRegions()) {
    out << "{";
    for (Block &block : region)
      out << sort(block, depth + 1);
    out << "}";
  }
  return text;
}

std::string Sorter::sort(Block &block, unsigned depth) {
  std::string prefix = "%" + std::to_string(depth) + ".", text;
  unsigned number = 0;
  for (Value argument : block.getArguments())
    names_[argument] = prefix + std::to_string(number++);
  SmallVector<Node> nodes;
  connect(block, nodes);
  std::set<std::pair<std::string, unsigned>> ready;
  for (auto [i, node] : llvm::enumerate(nodes))
    if (!node.waitsFor)
      ready.insert({textOf(node.op, depth), i});
  while (!ready.empty()) {
    auto [opText, i] = *ready.begin();
    ready.erase(ready.begin());
    Operation *op = nodes[i].op;
    op->moveBefore(block.getTerminator());
    for (Value result : op->getResults())
      names_[result] = prefix + std::to_string(number++);
    text += opText + "\n";
    for (unsigned next : nodes[i].before)
      if (--nodes[next].waitsFor == 0)
        ready.insert({textOf(nodes[next].op, depth), next});
  }
  return text + textOf(block.getTerminator(), depth);
}

struct NormalizePass : impl::NormalizeBase<NormalizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([&](Operation *op) {
      for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
        if (attribute.getName().getValue().starts_with("pdg."))
          op->removeAttr(attribute.getName());
    });
    for (auto variable : module.getOps<VariableOp>())
      Sorter().sort(variable.getInit().front(), 0);
    for (auto program : module.getOps<ProgramOp>())
      Sorter().sort(program.getBody().front(), 0);
    sortDeclarations<VariableOp>(module, [](VariableOp op) { return op.getName().str(); });
    sortDeclarations<SourceOp>(module, [](SourceOp op) { return op.getSymName().str(); });
  }

  /// Moves the declarations of one kind to the front, in the order of their names.
  template <typename Op, typename NameOf> void sortDeclarations(ModuleOp module, NameOf nameOf) {
    auto ops = llvm::to_vector(module.getOps<Op>());
    llvm::sort(ops, [&](Op x, Op y) { return nameOf(x) > nameOf(y); });
    for (Op op : ops)
      op->moveBefore(&module.getBody()->front());
  }
};

} // namespace
} // namespace pdg

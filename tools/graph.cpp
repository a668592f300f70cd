// From a module to a drawing in the language of Graphviz.
// SPDX-License-Identifier: Apache-2.0
#include "tools/graph.h"

#include "ir/interfaces.h"
#include "ir/program_tables.h"
#include "tools/cluster.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pdg {

int64_t bytesOf(Type type, bool &isPerRow) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t elements = 1;
  isPerRow = !tensor.hasStaticShape();
  for (int64_t size : tensor.getShape())
    elements *= ShapedType::isDynamic(size) ? 1 : size;
  Type element = tensor.getElementType();
  int64_t bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  return elements * bits / 8;
}

namespace {

/// A text between quotes.
std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

/// "f32[?, 784]".
std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    type.print(stream);
    return text;
  }
  tensor.getElementType().print(stream);
  stream << '[';
  llvm::interleave(
      tensor.getShape(), stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << '?';
        else
          stream << size;
      },
      ", ");
  stream << ']';
  return text;
}

/// Draws one module; nodes and boxes are numbered as they come.
class GraphDrawer {
public:
  DotGraph draw(ModuleOp module, const std::string &title);

private:
  void drawRole(ModuleOp role);
  void drawBlock(Block &block, StringRef owner);
  void drawOp(Operation &op);
  void drawRegions(Operation &op, const std::string &name);
  void drawEdgesBetweenRoles();
  void arrow(const std::string &from, const std::string &to, StringRef attributes = "");
  void arrowsTo(Operation &op, const std::string &name, StringRef attributes = "");
  std::string node(StringRef label, Location loc, StringRef attributes);
  void openBox(StringRef label, StringRef attributes);

  /// What an op is called: its mnemonic and whatever names it carries.
  static std::string labelOf(Operation &op);
  /// True for what would only be in the way: constants, and arithmetic on sizes.
  static bool isHidden(Operation &op);

  std::string text_;
  llvm::raw_string_ostream out_{text_};
  std::string arrows_; ///< Behind all boxes: inside of one they would pull their ends into it.
  int64_t nodes_ = 0, boxes_ = 0;
  llvm::DenseMap<Value, std::string> names_;
  /// Of each edge between roles its ends, senders first.
  struct Ends {
    SmallVector<std::string> senders, receivers;
    Type message;
  };
  llvm::MapVector<Attribute, Ends> ends_;
};

bool GraphDrawer::isHidden(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>())
    return true;
  auto isSize = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(64);
  };
  return isa<SizeOpInterface>(op) && llvm::all_of(op.getResultTypes(), isSize);
}

std::string GraphDrawer::labelOf(Operation &op) {
  std::string label = op.getName().stripDialect().str();
  for (NamedAttribute attribute : op.getAttrs()) {
    if (attribute.getName().strref().starts_with("pdg."))
      continue; // What passes noted.
    if (auto name = dyn_cast<NameAttr>(attribute.getValue()))
      label += " " + name.str();
    else if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
      label += " @" + symbol.getValue().str();
    else if (auto edge = dyn_cast<EdgeAttr>(attribute.getValue()))
      label += " " + edge.str();
  }
  for (Type type : op.getResultTypes())
    label += "\n" + typeText(type);
  return label;
}

std::string GraphDrawer::node(StringRef label, Location loc, StringRef attributes) {
  std::string name = "n" + std::to_string(nodes_++);
  out_ << name << " [label=" << quoted(label);
  if (std::string place = locationText(loc); !place.empty())
    out_ << ", tooltip=" << quoted(place);
  out_ << attributes << "];\n";
  return name;
}

void GraphDrawer::openBox(StringRef label, StringRef attributes) {
  out_ << "subgraph cluster_" << boxes_++ << " {\nlabel=" << quoted(label) << ";\n" << attributes;
}

void GraphDrawer::arrow(const std::string &from, const std::string &to, StringRef attributes) {
  arrows_ += from + " -> " + to + attributes.str() + ";\n";
}

void GraphDrawer::arrowsTo(Operation &op, const std::string &name, StringRef attributes) {
  for (Value operand : op.getOperands())
    if (auto from = names_.find(operand); from != names_.end())
      arrow(from->second, name, attributes);
}

void GraphDrawer::drawRegions(Operation &op, const std::string &name) {
  for (Region &region : op.getRegions()) {
    bool isBranch = op.getNumRegions() > 1;
    if (region.empty() || (isBranch && region.front().without_terminator().empty()))
      continue;
    if (isBranch)
      openBox("case " + std::to_string(region.getRegionNumber()), "style=dashed;\n");
    drawBlock(region.front(), name);
    if (isBranch)
      out_ << "}\n";
  }
}

void GraphDrawer::drawOp(Operation &op) {
  if (isHidden(op))
    return;
  bool hasRegions = op.getNumRegions() != 0;
  if (hasRegions)
    openBox(op.getName().stripDialect(), "style=rounded; color=gray40;\n");
  bool isEnd = isa<EdgeOpInterface>(op);
  bool hasName = llvm::any_of(
      op.getAttrs(), [](NamedAttribute attribute) { return isa<NameAttr>(attribute.getValue()); });
  StringRef look = hasRegions ? ", shape=ellipse"
                   : isEnd    ? ", shape=cds, fillcolor=\"#ffe0b3\""
                   : hasName  ? ", fillcolor=\"#d6e8fa\""
                              : "";
  std::string name = node(labelOf(op), op.getLoc(), look);
  arrowsTo(op, name);
  for (Value result : op.getResults())
    names_[result] = name;
  if (auto end = dyn_cast<EdgeOpInterface>(op)) {
    Ends &ends = ends_[end.getEdgeName()];
    (end.isReceiver() ? ends.receivers : ends.senders).push_back(name);
    ends.message = end.getMessageType();
  }
  drawRegions(op, name);
  if (hasRegions)
    out_ << "}\n";
}

void GraphDrawer::drawBlock(Block &block, StringRef owner) {
  for (BlockArgument argument : block.getArguments()) {
    if (argument.use_empty())
      continue;
    std::string name = node(typeText(argument.getType()), argument.getLoc(),
                            ", shape=ellipse, style=filled, fillcolor=\"#e4f2e0\"");
    if (!owner.empty())
      arrow(owner.str(), name, " [style=dashed]");
    names_[argument] = name;
  }
  for (Operation &op : block.without_terminator())
    drawOp(op);
  if (!owner.empty() && !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    arrowsTo(block.back(), owner.str(), " [style=dashed, constraint=false]");
}

void GraphDrawer::drawRole(ModuleOp role) {
  for (Operation &op : *role.getBody()) {
    // Declarations have no values; what they compute is told by their names.
    bool isProgram = op.getNumRegions() == 1 && !op.getRegion(0).empty() &&
                     op.hasTrait<OpTrait::IsIsolatedFromAbove>() && !op.hasAttr("name") &&
                     !op.hasAttr(SymbolTable::getSymbolAttrName());
    if (isProgram)
      drawBlock(op.getRegion(0).front(), "");
  }
}

void GraphDrawer::drawEdgesBetweenRoles() {
  for (auto &[attribute, ends] : ends_) {
    auto edge = cast<EdgeAttr>(attribute);
    bool isPerRow = false;
    std::string bytes = bytesText(static_cast<double>(bytesOf(ends.message, isPerRow)));
    std::string label = edge.str() + "\n" + bytes + (isPerRow ? " a row" : "");
    for (const std::string &from : ends.senders)
      for (const std::string &to : ends.receivers)
        arrow(from, to,
              " [label=" + quoted(label) +
                  ", color=\"#c05800\", fontcolor=\"#c05800\", penwidth=2]");
  }
}

DotGraph GraphDrawer::draw(ModuleOp module, const std::string &title) {
  out_ << "digraph pdg {\n"
       << "label=" << quoted(title) << "; labelloc=t; fontname=Helvetica; compound=true;\n"
       << "node [shape=box, style=filled, fillcolor=white, fontname=Helvetica, fontsize=10];\n"
       << "edge [fontname=Helvetica, fontsize=9, color=gray30];\n";
  bool hasRoles = false;
  for (auto role : module.getOps<ModuleOp>()) {
    hasRoles = true;
    auto attribute = role->getAttrOfType<RoleAttr>("pdg.role");
    openBox(attribute ? attribute.str() : role.getName().value_or("role").str(),
            "style=\"rounded,filled\"; fillcolor=\"#f7f7f7\"; color=black; fontsize=16;\n");
    drawRole(role);
    out_ << "}\n";
  }
  if (!hasRoles)
    drawRole(module);
  drawEdgesBetweenRoles();
  // Less care for large graphs, which are not read as a whole anyway.
  if (nodes_ > 300)
    out_ << "nslimit=1; nslimit1=1; mclimit=0.3;\n";
  out_ << arrows_ << "}\n";
  return {std::move(text_), nodes_};
}

} // namespace

DotGraph drawGraph(ModuleOp module, const std::string &title) {
  return GraphDrawer().draw(module, title);
}

} // namespace pdg

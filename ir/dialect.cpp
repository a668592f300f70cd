// Registers the dialect: groups of ops add themselves.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/shape.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/dialect.cpp.inc"
#include "ir/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/attrs.cpp.inc"

#include "ir/interfaces.cpp.inc"

using namespace mlir;

namespace pdg {

/// The groups, in no particular order: ops do not depend on it.
static std::vector<void (*)(PdgDialect &)> &groups() {
  static std::vector<void (*)(PdgDialect &)> list;
  return list;
}

OpGroup::OpGroup(void (*add)(PdgDialect &)) { groups().push_back(add); }

void PdgDialect::initialize() {
  registerAttributes();
  for (auto add : groups())
    add(*this);
}

void PdgDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/attrs.cpp.inc"
      >();
}

Operation *PdgDialect::materializeConstant(OpBuilder &b, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(b, loc, elements);
}

Attribute NameAttr::parse(AsmParser &parser, Type) {
  StringAttr path, state;
  SmallVector<int64_t> slice;
  int64_t replica = 0;
  auto parseBound = [&] { return parser.parseInteger(slice.emplace_back()); };
  if (parser.parseLess() || parser.parseAttribute(path))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    bool isWrong = false;
    if (succeeded(parser.parseOptionalKeyword("state")))
      isWrong = parser.parseEqual() || parser.parseAttribute(state);
    else if (succeeded(parser.parseOptionalKeyword("slice")))
      isWrong = parser.parseEqual() ||
                parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBound);
    else
      isWrong =
          parser.parseKeyword("replica") || parser.parseEqual() || parser.parseInteger(replica);
    if (isWrong)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), path, state, slice, replica);
}

void NameAttr::print(AsmPrinter &printer) const {
  printer << "<" << getPath();
  if (getState())
    printer << ", state = " << getState();
  if (!getSlice().empty())
    printer << ", slice = [" << getSlice() << "]";
  if (getReplica())
    printer << ", replica = " << getReplica();
  printer << ">";
}

std::string NameAttr::str() const {
  std::string text = getPath().str();
  if (getState())
    text += "/" + getState().str();
  if (!getSlice().empty()) {
    text += "[";
    for (size_t i = 0; i + 1 < getSlice().size(); i += 2)
      text +=
          (i ? ", " : "") + std::to_string(getSlice()[i]) + ":" + std::to_string(getSlice()[i + 1]);
    text += "]";
  }
  if (getReplica())
    text += "@" + std::to_string(getReplica());
  return text;
}

std::string RoleAttr::str() const {
  std::string text = stringifyRoleKind(getKind()).str();
  return isServer() ? text + " " + std::to_string(getIndex()) : text;
}

std::string EdgeAttr::str() const {
  std::string text = stringifyEdgeKind(getKind()).str();
  if (getNumber())
    text += " " + std::to_string(getNumber());
  return text + " of " + getSubject().str();
}

LogicalResult ClusterAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t trainers,
                                  int64_t servers, int64_t devices, ClusterMode mode, int64_t bound,
                                  int64_t trainerMemory, int64_t serverMemory) {
  auto inRange = [&](StringRef what, int64_t number, int64_t least, int64_t most) -> LogicalResult {
    if (number >= least && number <= most)
      return success();
    return emitError() << "expects " << least << " to " << most << " " << what << ", got "
                       << number;
  };
  constexpr int64_t Most = 65536;
  if (failed(inRange("trainers", trainers, 1, Most)) ||
      failed(inRange("servers", servers, 0, Most)) || failed(inRange("devices", devices, 1, Most)))
    return failure();
  if (bound < 0 || trainerMemory < 0 || serverMemory < 0)
    return emitError() << "expects a bound and memories that are not negative";
  return success();
}

ClusterAttr ClusterAttr::of(Operation *module) {
  return module->getAttrOfType<ClusterAttr>("pdg.cluster");
}

} // namespace pdg

// Numbers the variables, sources, inputs, texts and fetches of a module.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_tables.h"
#include "ir/dims.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/variable.h"

using namespace mlir;

namespace pdg {

/// Fills the tables in program order.
class TableBuilder {
public:
  TableBuilder(ProgramTables &tables, const TableOptions &options)
      : tables_(tables), options_(options) {}

  LogicalResult build(ModuleOp module);

private:
  LogicalResult declare(ModuleOp module);
  LogicalResult addVariable(VariableOp op);
  LogicalResult addSource(SourceOp op);
  LogicalResult addInput(InputOp op);
  LogicalResult addFetch(FetchOp op);
  void addEdge(EdgeAttr edge);
  LogicalResult addEnd(EdgeOpInterface op);
  LogicalResult checkUse(Operation *op);
  LogicalResult checkLoop(ForEachOp op);
  LogicalResult addUse(Operation *op);
  void addTexts(Operation *op);
  void addCheck(Operation *op, RunCheck check);
  int64_t addText(Operation *op, TextSite site);
  TextSite siteOf(ArrayAttr segments, ArrayAttr formats, ValueRange values);

  ProgramTables &tables_;
  const TableOptions &options_;
  ShapeAnalysis shapes_;
  bool hasEdges_ = false; ///< The module says which edges there are.
};

/// A shape as the runtime writes it.
static std::vector<int64_t> runtimeShape(Type type) {
  std::vector<int64_t> shape;
  for (int64_t size : cast<RankedTensorType>(type).getShape())
    shape.push_back(ShapedType::isDynamic(size) ? kDynamicSize : size);
  return shape;
}

LogicalResult TableBuilder::build(ModuleOp module) {
  if (failed(declare(module)))
    return failure();
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(checkUse(op)) || failed(addUse(op)))
      return WalkResult::interrupt();
    addTexts(op);
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

LogicalResult TableBuilder::declare(ModuleOp module) {
  if (auto edges = module->getAttrOfType<ArrayAttr>(kEdgesAttribute)) {
    hasEdges_ = true;
    for (auto edge : edges.getAsRange<EdgeAttr>())
      addEdge(edge);
  }
  for (Operation &op : *module.getBody()) {
    if (auto variable = dyn_cast<VariableOp>(op); variable && failed(addVariable(variable)))
      return failure();
    if (auto source = dyn_cast<SourceOp>(op); source && failed(addSource(source)))
      return failure();
    if (!isa<ProgramOp>(op))
      continue;
    if (tables_.program_)
      return op.emitOpError("expects to be the only program of a module");
    tables_.program_ = &op;
  }
  if (!tables_.program_)
    return emitError(module.getLoc()) << "expects a 'pdg.program' in the module";
  return success();
}

LogicalResult TableBuilder::addVariable(VariableOp op) {
  int64_t index = tables_.info_.variables.size();
  if (!tables_.variables_.try_emplace(op.getName(), index).second)
    return op.emitOpError("declares the variable '") << op.getName().str() << "' a second time";
  tables_.variableOps_.push_back(op);
  NameAttr name = op.getName();
  VariableInfo info{name.str(), *toDType(op.getType()), runtimeShape(op.getType()), op.getParam()};
  if (!name.getSlice().empty()) {
    info.bounds = name.getSlice().vec();
    info.whole =
        NameAttr::get(op.getContext(), name.getPath(), name.getState(), {}, name.getReplica())
            .str();
  }
  tables_.info_.variables.push_back(std::move(info));
  return success();
}

/// An option of a reader: a text, or a list.
static OptionValue optionValue(Attribute attribute) {
  OptionValue value;
  if (auto text = dyn_cast<StringAttr>(attribute))
    value.text = text.str();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    value.isList = true;
    for (Attribute each : list)
      value.list.push_back(optionValue(each));
  }
  return value;
}

LogicalResult TableBuilder::addSource(SourceOp op) {
  SourceInfo info;
  info.name = op.getSymName().str();
  info.reader = op.getReader().str();
  for (StringRef file : op.getFiles().getAsValueRange<StringAttr>())
    info.files.push_back(file.str());
  info.batch = op.getBatch();
  info.shuffle = op.getShuffle();
  info.window = op.getWindow();
  info.seed = op.getSeed();
  info.skip = op.getSkip();
  info.limit = op.getLimit();
  info.from = op.getFrom().convertToDouble();
  info.to = op.getTo().convertToDouble();
  info.repeat = op.getRepeat();
  if (DictionaryAttr options = op.getOptionsAttr())
    for (NamedAttribute option : options)
      info.options.push_back({option.getName().str(), optionValue(option.getValue())});
  info.location = locationText(op.getLoc());
  for (Type field : op.getFields().getAsValueRange<TypeAttr>()) {
    auto type = dyn_cast<RankedTensorType>(field);
    if (!type || !type.hasStaticShape() || !toDType(type))
      return op.emitOpError("expects fields whose sizes are known, got ") << field;
    info.fields.push_back({*toDType(type), runtimeShape(type)});
  }
  if (info.batch < 1 || info.fields.empty() || info.files.empty())
    return op.emitOpError("expects at least one example in a batch, one field and one file");
  if (info.window < 0 || info.skip < 0 || info.limit < kDynamicSize || info.repeat < 1 ||
      !(0 <= info.from && info.from < info.to && info.to <= 1))
    return op.emitOpError("expects 'window' and 'skip' of at least 0, 'repeat' of at least 1 and "
                          "0 <= 'from' < 'to' <= 1");
  tables_.sources_[FlatSymbolRefAttr::get(op.getSymNameAttr())] = tables_.info_.sources.size();
  tables_.info_.sources.push_back(std::move(info));
  return success();
}

LogicalResult TableBuilder::addInput(InputOp op) {
  if (!cast<RankedTensorType>(op.getType()).hasStaticShape() && !options_.isCheckOnly)
    return op.emitOpError("expects sizes that are known when compiling, got ") << op.getType();
  InputInfo info{op.getName().str(), *toDType(op.getType()), runtimeShape(op.getType())};
  auto [found, isNew] = tables_.inputs_.try_emplace(op.getName(), tables_.info_.inputs.size());
  if (isNew) {
    tables_.info_.inputs.push_back(std::move(info));
    return success();
  }
  const InputInfo &other = tables_.info_.inputs[found->second];
  if (other.dtype != info.dtype || other.shape != info.shape)
    return op.emitOpError("expects the input '") << op.getName() << "' to have one type";
  return success();
}

LogicalResult TableBuilder::addFetch(FetchOp op) {
  Type type = op.getValue().getType();
  FetchInfo info{op.getName().str(), *toDType(type), runtimeShape(type)};
  auto [found, isNew] = tables_.fetches_.try_emplace(op.getName(), tables_.info_.fetches.size());
  if (isNew) {
    tables_.info_.fetches.push_back(std::move(info));
    return success();
  }
  FetchInfo &other = tables_.info_.fetches[found->second];
  if (other.dtype != info.dtype || other.shape.size() != info.shape.size())
    return op.emitOpError("expects the value '")
           << op.getName() << "' to have one element type and number of axes";
  for (auto [size, otherSize] : llvm::zip(info.shape, other.shape))
    otherSize = size == otherSize ? size : kDynamicSize;
  return success();
}

/// The process, or all processes of a kind, at an end of an edge.
static std::pair<PeerKind, int64_t> peersOf(RoleAttr role) {
  return role.isServer() ? std::pair(PeerKind::Server, role.getIndex())
                         : std::pair(PeerKind::Trainer, kAllOfKind);
}

void TableBuilder::addEdge(EdgeAttr edge) {
  if (!tables_.edges_.try_emplace(edge, tables_.info_.edges.size()).second)
    return;
  EdgeInfo info;
  info.name = edge.str();
  std::tie(info.fromKind, info.fromIndex) = peersOf(edge.getFrom());
  std::tie(info.toKind, info.toIndex) = peersOf(edge.getTo());
  info.firstOnly = edge.getFirst();
  tables_.info_.edges.push_back(std::move(info));
}

/// Adds what an op at the end of an edge knows of its messages.
LogicalResult TableBuilder::addEnd(EdgeOpInterface op) {
  auto edge = cast<EdgeAttr>(op.getEdgeName());
  bool isQueue = edge.getFrom() == edge.getTo();
  if (hasEdges_ && !isQueue && !tables_.edges_.contains(edge))
    return op.emitOpError("names an edge that is none of the module's: ") << edge.str();
  addEdge(edge);
  EdgeInfo &info = tables_.info_.edges[tables_.edges_.lookup(edge)];
  auto type = cast<RankedTensorType>(op.getMessageType());
  info.dtype = *toDType(type);
  info.shape = runtimeShape(type);
  if (info.place.empty())
    info.place = locationText(op.getLoc());
  // A sender hands over its operand; parts of a result are not larger than all of it.
  Value value = op.isReceiver() ? op->getResult(0) : op->getOperand(0);
  info.bound = type.hasStaticShape() ? 0 : shapes_.elementBoundOf(value).value_or(0);
  return success();
}

/// Reports a variable or a source that is not declared, or is used as something else.
LogicalResult TableBuilder::checkUse(Operation *op) {
  auto checkVariable = [&](NameAttr name, Type type) -> LogicalResult {
    auto found = tables_.variables_.find(name);
    if (found == tables_.variables_.end())
      return op->emitOpError("names no variable: '") << name.str() << "'";
    auto declared = cast<VariableOp>(tables_.variableOps_[found->second]).getType();
    if (declared != type)
      return op->emitOpError("expects the variable's type ") << declared << ", got " << type;
    return success();
  };
  if (auto read = dyn_cast<ReadOp>(op))
    return checkVariable(read.getName(), read.getType());
  if (auto assign = dyn_cast<AssignOp>(op))
    return checkVariable(assign.getName(), assign.getValue().getType());
  if (auto size = dyn_cast<SourceSizeOp>(op); size && !tables_.sources_.count(size.getSourceAttr()))
    return op->emitOpError("names no data source: ") << size.getSourceAttr();
  if (auto loop = dyn_cast<ForEachOp>(op))
    return checkLoop(loop);
  return success();
}

LogicalResult TableBuilder::checkLoop(ForEachOp op) {
  auto found = tables_.sources_.find(op.getSourceAttr());
  if (found == tables_.sources_.end())
    return op.emitOpError("names no data source: ") << op.getSourceAttr();
  const SourceInfo &source = tables_.info_.sources[found->second];
  if (op.getNumFields() != source.fields.size())
    return op.emitOpError("expects a region argument for each of the source's ")
           << source.fields.size() << " fields, got " << op.getNumFields();
  for (auto [i, field] : llvm::enumerate(source.fields)) {
    Type type = op.getBody().getArgument(1 + i).getType();
    std::vector<int64_t> shape = field.shape;
    shape.insert(shape.begin(), kDynamicSize);
    if (toDType(type) != field.dtype || runtimeShape(type) != shape)
      return op.emitOpError("expects ")
             << typeString(field.dtype, shape) << " as field " << i << ", got " << type;
  }
  return success();
}

LogicalResult TableBuilder::addUse(Operation *op) {
  if (auto input = dyn_cast<InputOp>(op))
    return addInput(input);
  if (auto fetch = dyn_cast<FetchOp>(op))
    return addFetch(fetch);
  if (auto end = dyn_cast<EdgeOpInterface>(op))
    return addEnd(end);
  return success();
}

int64_t TableBuilder::addText(Operation *op, TextSite site) {
  site.location = locationText(op->getLoc());
  if (!site.code.empty())
    site.excerpt = excerptText(op->getLoc(), options_.excerpt);
  tables_.info_.texts.push_back(std::move(site));
  return tables_.info_.texts.size() - 1;
}

TextSite TableBuilder::siteOf(ArrayAttr segments, ArrayAttr formats, ValueRange values) {
  TextSite site;
  for (StringRef segment : segments.getAsValueRange<StringAttr>())
    site.segments.push_back(segment.str());
  for (auto [attribute, value] : llvm::zip(formats.getAsRange<ValueFormatAttr>(), values)) {
    auto type = cast<RankedTensorType>(value.getType());
    site.values.push_back({*toDType(type), type.getRank(), attribute.getWidth(),
                           attribute.getPrecision(), attribute.getSignificant()});
  }
  return site;
}

/// A text with whole numbers in it.
static TextSite errorSite(std::vector<std::string> segments, std::string code) {
  TextSite site;
  site.values.assign(segments.size() - 1, {.dtype = DType::I64});
  site.segments = std::move(segments);
  site.code = std::move(code);
  return site;
}

void TableBuilder::addCheck(Operation *op, RunCheck check) {
  tables_.texts_[op] =
      check.kind == RunCheck::NotZero
          ? addText(op, errorSite({"integer division by zero"}, "PD2002"))
          : addText(op, errorSite({"index ", " is out of range: expected 0 <= index < ", ""},
                                  "PD2001"));
}

void TableBuilder::addTexts(Operation *op) {
  if (auto print = dyn_cast<PrintOp>(op))
    tables_.texts_[op] =
        addText(op, siteOf(print.getSegments(), print.getFormats(), print.getValues()));
  if (auto check = dyn_cast<AssertOp>(op)) {
    TextSite site = siteOf(check.getSegments(), check.getFormats(), check.getValues());
    site.code = "PD2000";
    tables_.texts_[op] = addText(op, std::move(site));
  }
  if (auto checked = dyn_cast<CheckedOpInterface>(op))
    if (std::optional<RunCheck> check = checked.getRunCheck())
      addCheck(op, *check);
  if (isa<DimsOpInterface>(op) && !shapes_.checksOf(op).empty())
    tables_.mismatchTexts_[op] = addText(op, errorSite({"sizes ", " and ", " differ"}, "PD2003"));
  if (options_.checksNan && llvm::any_of(op->getResultTypes(), isFloatTensor))
    tables_.nanTexts_[op] = addText(
        op, errorSite({("'" + op->getName().stripDialect() + "' made a NaN").str()}, "PD2004"));
}

FailureOr<ProgramTables> ProgramTables::build(ModuleOp module, const TableOptions &options) {
  ProgramTables tables;
  if (failed(TableBuilder(tables, options).build(module)))
    return failure();
  return tables;
}

} // namespace pdg

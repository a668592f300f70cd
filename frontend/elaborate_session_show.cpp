// What a session shows of a bare expression: its value with its type.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate_session.h"
#include "frontend/elaborator.h"
#include "ir/ops/effects.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

using namespace mlir;

namespace pdg {

/// The types of the batches of a source.
static std::string batchText(const Emitter &emit, SourceOp source) {
  std::vector<std::string> fields;
  for (Type field : source.getFields().getAsValueRange<TypeAttr>()) {
    auto type = llvm::cast<RankedTensorType>(field);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    fields.push_back(emit.typeText(type.clone(shape)));
  }
  return absl::StrCat("data source of batches (", absl::StrJoin(fields, ", "), ")");
}

/// What a value is, in a few words: the type of what has one.
std::string Elaborator::kindText(const Datum &value) {
  if (auto *tensor = value.get<Value>())
    return emit.typeText(*tensor);
  if (auto *variable = value.get<Variable *>())
    return absl::StrCat((*variable)->isParam ? "param " : "state ",
                        emit.typeText((*variable)->type));
  if (value.isNumber())
    return value.is<int64_t>() ? "i64" : "f32";
  if (value.is<bool>())
    return "bool";
  if (value.is<std::string>())
    return "string";
  if (value.is<DType>())
    return "type";
  if (auto *sequence = value.get<SequencePtr>()) {
    bool isTuple = (*sequence)->isTuple;
    std::vector<std::string> parts;
    for (const Datum &element : (*sequence)->elements)
      parts.push_back(kindText(element));
    if (!isTuple && parts.size() > 1 && llvm::all_equal(parts))
      return absl::StrCat("list of ", parts.size(), " ", parts[0]);
    return absl::StrCat(isTuple ? "(" : "[", absl::StrJoin(parts, ", "), isTuple ? ")" : "]");
  }
  if (auto *source = value.get<const Source *>())
    return batchText(emit, module_->lookupSymbol<SourceOp>((*source)->symbol));
  if (auto *instance = value.get<InstancePtr>())
    return absl::StrCat("instance of ", (*instance)->block->name);
  if (auto *block = value.get<BlockPtr>())
    return absl::StrCat("block ", (*block)->name);
  std::string text = describe(value); // "the function 'exp'"
  return text.substr(text.find(' ') + 1);
}

/// Adds a value with its type to a text.
void Elaborator::addShown(Text &text, const Operand &value) {
  const Datum &datum = value.value;
  if (datum.isNumber() || datum.is<bool>() || datum.is<Value>() || datum.is<Variable *>()) {
    Value tensor = this->tensor(value);
    // The text of a tensor with axes begins with its type.
    if (tensor && Emitter::rankOf(tensor) == 0)
      absl::StrAppend(&text.segments.back(), emit.typeText(tensor), " ");
    return addToText(text, {tensor ? Datum(tensor) : Datum(Poison()), value.span}, {});
  }
  std::string &last = text.segments.back();
  absl::StrAppend(&last, kindText(datum));
  if (auto *string = datum.get<std::string>())
    absl::StrAppend(&last, " \"", *string, "\"");
  if (auto *type = datum.get<DType>())
    absl::StrAppend(&last, " ", std::string(nameOf(*type)));
  if (auto *sequence = datum.get<SequencePtr>()) {
    if (llvm::all_of((*sequence)->elements, [](const Datum &each) { return each.isConstant(); })) {
      absl::StrAppend(&last, " ");
      return addToText(text, value, {});
    }
    for (const Datum &element : (*sequence)->elements) {
      absl::StrAppend(&text.segments.back(), "\n");
      addShown(text, {element, value.span});
    }
  }
  last += variablesText(datum);
}

/// The variables of an instance, a line for each.
std::string Elaborator::variablesText(const Datum &value) {
  std::string text;
  std::vector<Variable *> variables;
  if (value.is<InstancePtr>())
    collectVariables(value, variables);
  for (Variable *variable : variables)
    absl::StrAppend(&text, "\n  ", variable->name.str(), ": ", kindText(variable));
  return text;
}

void Elaborator::showBare(const Expr &expr) {
  Operand value = evalOperand(expr);
  if (value.value.isPoison() || value.value.is<Nothing>())
    return;
  if (options_.session->describes) {
    options_.session->descriptions.push_back(kindText(value.value) + variablesText(value.value));
    return;
  }
  Text text;
  text.segments.push_back("");
  addShown(text, value);
  if (text.isBroken)
    return;
  SmallVector<StringRef> segments(text.segments.begin(), text.segments.end());
  PrintOp::create(emit.b, emit.loc(expr.span), emit.b.getStrArrayAttr(segments),
                  emit.b.getArrayAttr(text.formats), text.values);
}

} // namespace pdg

// print, eval and assert: what a program tells.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/effects.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

static SmallVector<StringRef> references(ArrayRef<std::string> texts) {
  return SmallVector<StringRef>(texts.begin(), texts.end());
}

/// Adds a value to a text: tensors get a place of their own, strings become part of the text.
void Elaborator::addToText(Text &text, const Operand &value, const FormatSpec &format) {
  if (auto *string = value.value.get<std::string>()) {
    size_t length = countCodePoints(*string), width = format.width.value_or(0);
    text.segments.back() += std::string(width > length ? width - length : 0, ' ') + *string;
    return;
  }
  if (auto *type = value.value.get<DType>()) {
    text.segments.back() += std::string(nameOf(*type));
    return;
  }
  if (auto *sequence = value.value.get<SequencePtr>()) {
    text.segments.back() += (*sequence)->isTuple ? "(" : "[";
    bool isFirst = true;
    for (const Datum &element : (*sequence)->elements) {
      text.segments.back() += isFirst ? "" : ", ";
      isFirst = false;
      addToText(text, {element, value.span}, format);
    }
    text.segments.back() += (*sequence)->isTuple ? ")" : "]";
    return;
  }
  Value tensor = this->tensor(value);
  if (!tensor) {
    text.isBroken = true;
    return;
  }
  text.values.push_back(tensor);
  text.formats.push_back(ValueFormatAttr::get(emit.b.getContext(), format.width.value_or(0),
                                              format.precision.value_or(-1), format.isGeneral));
  text.segments.push_back("");
}

Elaborator::Text Elaborator::buildText(const Template &source) {
  Text text;
  text.segments.push_back("");
  for (const TemplatePart &part : source.parts) {
    if (part.expr)
      addToText(text, evalOperand(*part.expr), part.format);
    else
      text.segments.back() += part.text;
  }
  return text;
}

void Elaborator::execPrint(const PrintStmt &stmt) {
  Text text = buildText(stmt.text);
  if (!text.isBroken)
    PrintOp::create(emit.b, emit.loc(stmt.span), emit.b.getStrArrayAttr(references(text.segments)),
                    emit.b.getArrayAttr(text.formats), text.values);
}

/// The text of an assertion that fails when compiling: what only the run knows is left out.
std::string Elaborator::constantText(const Template &text) {
  std::string result;
  for (const TemplatePart &part : text.parts) {
    Datum value = part.expr ? eval(*part.expr) : Datum(part.text);
    if (auto *string = value.get<std::string>())
      result += *string;
    else if (auto *flag = value.get<bool>())
      result += *flag ? "true" : "false";
    else if (auto *type = value.get<DType>())
      result += std::string(nameOf(*type));
    else if (auto *number = value.get<int64_t>())
      result += absl::StrCat(*number);
    else if (auto *number = value.get<double>())
      result += absl::StrCat(*number);
    else
      result += "...";
  }
  return result;
}

void Elaborator::execAssert(const AssertStmt &stmt) {
  Operand condition = evalOperand(*stmt.condition);
  if (condition.value.isPoison())
    return;
  if (auto known = constantBool(condition.value)) {
    if (*known)
      return;
    std::string text = stmt.message ? constantText(*stmt.message) : "";
    emit.error(DiagCode::PD0123, stmt.condition->span,
               absl::StrCat("the assertion does not hold", text.empty() ? "" : ": ", text));
    return;
  }
  Text text;
  if (stmt.message)
    text = buildText(*stmt.message);
  else
    text.segments.push_back("the assertion does not hold");
  if (text.isBroken)
    return;
  if (condition.value.is<SequencePtr>()) {
    typeError(condition.span, "a scalar bool after 'assert'", condition.value)
        .withHint("condition and text stand without parentheses: assert c, \"text\"");
    return;
  }
  Value value = tensor(condition);
  if (!value)
    return;
  if (!isConditionTensor(value.getType())) {
    typeError(condition.span, "a scalar bool after 'assert'", value)
        .withHint(Emitter::dtypeOf(value) == DType::Bool ? "ask one question: count(not c) == 0"
                                                         : "compare it: x > 0");
    return;
  }
  AssertOp::create(emit.b, emit.loc(stmt.span), value,
                   emit.b.getStrArrayAttr(references(text.segments)),
                   emit.b.getArrayAttr(text.formats), text.values);
}

//===- eval ----------------------------------------------------------------===//

void Elaborator::fetch(const std::string &name, const Operand &value) {
  if (auto *sequence = value.value.get<SequencePtr>()) {
    for (size_t i = 0; i < (*sequence)->elements.size(); ++i)
      fetch(absl::StrCat(name, ".", i), {(*sequence)->elements[i], value.span});
    return;
  }
  if (value.value.is<InstancePtr>()) {
    std::vector<Variable *> variables;
    collectVariables(value.value, variables);
    for (Variable *variable : variables)
      fetch("", {variable, value.span});
    return;
  }
  std::string trueName = name;
  if (auto *variable = value.value.get<Variable *>())
    trueName = (*variable)->name.str();
  if (Value tensor = this->tensor(value))
    FetchOp::create(emit.b, emit.loc(value.span), trueName, tensor);
}

void Elaborator::execEval(const EvalStmt &stmt) {
  for (const EvalTarget &target : stmt.targets) {
    Operand value = evalOperand(*target.expr);
    // A name after `as` counts more than the true name of a variable.
    bool isNamed = target.span.end != target.expr->span.end;
    if (isNamed)
      value.value = readAll(value.value, value.span);
    fetch(target.name, value);
  }
}

} // namespace pdg

// What comes from outside: inputs and constants that a run may set.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "frontend/names.h"
#include "ir/ops/variable.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <cmath>
#include <cstdint>

using namespace mlir;

namespace pdg {

//===- input ---------------------------------------------------------------===//

/// What a message calls an input: with the file that it is fed from.
static std::string inputText(const std::string &name, const ElaborateOptions &options) {
  auto fed = options.inputs.find(name);
  bool hasFile = fed != options.inputs.end() && !fed->second.file.empty();
  return absl::StrCat("the input '", name, "'", hasFile ? ", fed from " : "",
                      hasFile ? fed->second.file : "");
}

void Elaborator::execInput(const DeclStmt &stmt) {
  const Decl &decl = stmt.decl();
  frame_->names[&decl] = Poison();
  auto dtype = elementType(*stmt.type, std::nullopt);
  auto fed = options_.inputs.find(decl.name);
  bool isFed = fed != options_.inputs.end();
  if (!isFed && options_.needsInputs) {
    Diagnostic &error = emit.error(DiagCode::PD0118, decl.span,
                                   absl::StrCat("nothing is fed for '", decl.name, "'"));
    if (!options_.fedArrays.empty())
      error.withNote(
          absl::StrCat("the files that are fed hold ", absl::StrJoin(options_.fedArrays, ", ")));
    error.withHint(
        options_.session
            ? absl::StrCat("in a session a value is given by 'let ", decl.name, " = ...'")
            : absl::StrCat("give it a file: --feed ", decl.name, "=file.npy"));
    return;
  }
  if (!dtype && !isFed) {
    emit.error(DiagCode::PD0103, stmt.type->nameSpan,
               absl::StrCat("the element type '", stmt.type->name, "' is not known here"));
    return;
  }
  SmallVector<int64_t> shape;
  if (isFed)
    shape.assign(fed->second.shape.begin(), fed->second.shape.end());
  for (const ExprPtr &dim : stmt.type->dims) {
    if (isFed)
      break;
    auto known = countFree(*dim) ? std::nullopt : knownInt(eval(*dim));
    shape.push_back(known && *known >= 0 ? *known : ShapedType::kDynamic);
  }
  DType type = isFed ? fed->second.dtype : *dtype;
  Value value = InputOp::create(emit.b, emit.loc(stmt.span),
                                RankedTensorType::get(shape, emit.elementOf(type)), decl.name);
  bindType(*stmt.type, value, decl.span);
  if (Value checked = checkType(*stmt.type, value, decl.span, inputText(decl.name, options_)))
    frame_->names[&decl] = checked;
}

//===- const ---------------------------------------------------------------===//

/// True for what a constant may be.
static bool isKnown(const Datum &value) {
  if (auto *sequence = value.get<SequencePtr>())
    return llvm::all_of((*sequence)->elements, isKnown);
  return value.isConstant() || value.isPoison();
}

/// The elements of "[1, 2, 3]", brackets may be left out; texts in them are without quotes.
static std::vector<std::string> elementsOf(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() >= 2 && (text.front() == '[' || text.front() == '(') &&
      (text.back() == ']' || text.back() == ')'))
    text = text.substr(1, text.size() - 2);
  std::vector<std::string> result;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace()))
    result.emplace_back(absl::StripAsciiWhitespace(part));
  return result;
}

/// A value as `--set` gives it, of the kind of `like`; nothing, with what was expected, if it is no
/// such value.
static std::optional<Datum> valueFromText(const std::string &text, const Datum &like,
                                          std::string &expected) {
  if (like.is<int64_t>()) {
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number))
      return number;
    expected = "a whole number";
  } else if (like.is<double>()) {
    double number = 0;
    if (absl::SimpleAtod(text, &number) && std::isfinite(number))
      return number;
    expected = "a number";
  } else if (like.is<bool>()) {
    if (text == "true" || text == "false")
      return text == "true";
    expected = "true or false";
  } else if (like.is<DType>()) {
    if (auto type = parseDType(text))
      return *type;
    expected = "an element type such as f32";
  } else if (auto *sequence = like.get<SequencePtr>(); sequence && !(*sequence)->elements.empty()) {
    auto result = std::make_shared<Sequence>();
    result->isTuple = (*sequence)->isTuple;
    for (const std::string &each : elementsOf(text)) {
      auto element = valueFromText(each, (*sequence)->elements.front(), expected);
      if (!element) {
        expected = absl::StrCat("a list with ", expected, " at each place");
        return std::nullopt;
      }
      result->elements.push_back(*element);
    }
    return SequencePtr(result);
  } else if (like.is<std::string>()) {
    return text;
  } else {
    expected = "no value: only numbers, bools, strings, types and lists of them can be set";
  }
  return std::nullopt;
}

Datum Elaborator::constantFromText(const std::string &text, const Datum &like,
                                   const DeclStmt &stmt) {
  std::string expected;
  if (auto value = valueFromText(text, like, expected))
    return *value;
  emit.error(
      DiagCode::PD0119, stmt.decl().span,
      absl::StrCat("expected ", expected, " for --set ", stmt.decl().name, ", found '", text, "'"));
  return Poison();
}

void Elaborator::execConst(const DeclStmt &stmt) {
  Operand value = evalOperand(*stmt.init);
  if (!isKnown(value.value)) {
    emit.error(DiagCode::PD0103, value.span,
               absl::StrCat("expected a value that is known when compiling, found ",
                            describe(value.value)))
        .withHint("a value that only the run knows is declared with 'let'");
    return definePoison(*stmt.pattern);
  }
  bool isFloatType = stmt.type && (stmt.type->name == "float" || stmt.type->name[0] == 'f');
  if (auto *number = value.value.get<int64_t>(); number && isFloatType)
    value.value = static_cast<double>(*number);
  bool isTopLevel = frame_ == fileFrame(&program_.main()) && stmt.pattern->isName();
  if (isTopLevel)
    if (auto set = options_.constants.find(stmt.decl().name); set != options_.constants.end())
      value.value = constantFromText(set->second, value.value, stmt);
  define(*stmt.pattern, value);
}

/// A name that is set must be a constant of the script, one that is fed an input.
void Elaborator::checkGivenNames() {
  std::vector<std::string> known;
  for (const StmtPtr &stmt : program_.main().stmts)
    if (auto *decl = dynAs<DeclStmt>(stmt.get());
        decl && decl->declKind == DeclKind::Const && decl->pattern->isName())
      known.push_back(decl->decl().name);
  for (const auto &[name, text] : options_.constants) {
    if (llvm::is_contained(known, name))
      continue;
    Diagnostic &error = emit.error(
        DiagCode::PD0119, {},
        absl::StrCat("--set ", name, ": the script has no constant '", name, "' at its top level"));
    if (std::string near = findNearest(name, known); !near.empty())
      error.withHint(absl::StrCat("did you mean '", near, "'?"));
  }
  known.clear();
  for (const StmtPtr &stmt : program_.main().stmts)
    if (auto *decl = dynAs<DeclStmt>(stmt.get()); decl && decl->declKind == DeclKind::Input)
      known.push_back(decl->decl().name);
  for (const auto &[name, input] : options_.inputs) {
    if (llvm::is_contained(known, name))
      continue;
    Diagnostic &error =
        emit.error(DiagCode::PD0118, {},
                   absl::StrCat("--feed ", name, ": the script has no input '", name, "'"));
    if (std::string near = findNearest(name, known); !near.empty())
      error.withHint(absl::StrCat("did you mean '", near, "'?"));
  }
}

} // namespace pdg

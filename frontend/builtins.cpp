// The table of built-in functions, and the arguments of their calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "runtime/data/reader.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

const std::map<std::string, const Builtin *> &allBuiltins() {
  static const auto *result = [] {
    auto *map = new std::map<std::string, const Builtin *>;
    for (ArrayRef<Builtin> part :
         {elementwiseBuiltins(), mathBuiltins(), bitBuiltins(), reductionBuiltins(),
          statisticsBuiltins(), shapeBuiltins(), layoutBuiltins(), orderBuiltins(),
          matrixBuiltins(), productBuiltins(), windowBuiltins(), randomBuiltins()})
      for (const Builtin &builtin : part)
        map->emplace(builtin.name, &builtin);
    return map;
  }();
  return *result;
}

const Builtin *findBuiltin(const std::string &name) {
  // "ops.relu" is the function itself, for files with a block of that name.
  bool isQualified = name.starts_with("ops.");
  auto found = allBuiltins().find(isQualified ? name.substr(4) : name);
  return found == allBuiltins().end() ? nullptr : found->second;
}

BuiltinNames builtinNames() {
  BuiltinNames names;
  for (const auto &[name, builtin] : allBuiltins()) {
    names.functions.insert(name);
    names.functions.insert("ops." + name);
  }
  for (const Reader &reader : allReaders())
    names.functions.insert("io." + std::string(reader.name));
  names.functions.insert("window"); // after 'shuffle:'
#define PDG_TYPE_NAME(enumerator, name, size, descr) names.types.insert(name);
  PDG_DTYPES(PDG_TYPE_NAME)
#undef PDG_TYPE_NAME
  return names;
}

std::vector<BuiltinParam> parseSignature(const char *signature) {
  std::vector<BuiltinParam> params;
  SmallVector<StringRef> parts;
  StringRef(signature).split(parts, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    bool isOptional = part.consume_back("?");
    params.push_back({part.str(), isOptional});
  }
  return params;
}

//===- Arguments -----------------------------------------------------------===//

Diagnostic &BuiltinCall::error(size_t i, const std::string &expected) {
  std::string name = parseSignature(builtin.signature)[i].name;
  return elaborator.typeError(args[i].span,
                              absl::StrCat(expected, " for '", name, "' of '", builtin.name, "'"),
                              args[i].value);
}

Value BuiltinCall::floats(size_t i) {
  if (args[i].value.isNumber())
    return elaborator.tensorOf(args[i], DType::F32);
  Value value = tensor(i);
  if (!value || isFloatTensor(value.getType()))
    return value;
  error(i, "a tensor of floats").withHint("convert it first: f32(x)");
  return {};
}

std::optional<int64_t> BuiltinCall::integer(size_t i, int64_t otherwise) {
  if (!has(i))
    return otherwise;
  std::string name = parseSignature(builtin.signature)[i].name;
  return elaborator.constantInt(args[i], absl::StrCat("'", name, "' of '", builtin.name, "'"));
}

std::optional<bool> BuiltinCall::flag(size_t i, bool otherwise) {
  if (!has(i))
    return otherwise;
  auto known = elaborator.constantBool(value(i));
  if (!known)
    error(i, "true or false");
  return known;
}

std::optional<DType> BuiltinCall::type(size_t i, DType otherwise) {
  if (!has(i))
    return otherwise;
  if (auto *type = value(i).get<DType>())
    return *type;
  error(i, "an element type");
  return std::nullopt;
}

std::optional<int64_t> BuiltinCall::normalizeAxis(int64_t axis, int64_t rank, Span at) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  emit.error(
          DiagCode::PD0111, at,
          absl::StrCat("expected an axis below ", rank, " for '", builtin.name, "', found ", axis))
      .withNote(
          absl::StrCat("the tensor has ", rank, rank == 1 ? " axis" : " axes", ", counted from 0"));
  return std::nullopt;
}

std::optional<int64_t> BuiltinCall::axis(size_t i, int64_t rank, int64_t otherwise) {
  auto known = integer(i, otherwise);
  return known ? normalizeAxis(*known, rank, args[i].span) : std::nullopt;
}

std::optional<SmallVector<int64_t>> BuiltinCall::axes(size_t i, int64_t rank) {
  SmallVector<int64_t> result;
  if (!has(i)) {
    for (int64_t axis = 0; axis < rank; ++axis)
      result.push_back(axis);
    return result;
  }
  std::vector<Datum> values{value(i)};
  if (auto *sequence = value(i).get<SequencePtr>())
    values = (*sequence)->elements;
  for (const Datum &each : values) {
    auto known = elaborator.constantInt({each, args[i].span}, "an axis");
    auto axis = known ? normalizeAxis(*known, rank, args[i].span) : std::nullopt;
    if (!axis)
      return std::nullopt;
    if (llvm::is_contained(result, *axis)) {
      emit.error(DiagCode::PD0111, args[i].span, absl::StrCat("axis ", *axis, " is given twice"));
      return std::nullopt;
    }
    result.push_back(*axis);
  }
  llvm::sort(result);
  return result;
}

} // namespace pdg

// From options to columns, and from text to numbers.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/csv_layout.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_reader.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/charconv.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace pdg {

namespace {

/// One element of `columns`: a field of its own, with one column or a list of them.
struct ColumnGroup {
  std::vector<std::string> names;
  bool isList = false;
};

/// Where a name stands among those of the header row, and where a second time if it does.
struct NamePlace {
  size_t first = 0;
  std::optional<size_t> second;
};

/// The places of all names: a file may have so many columns that each cannot look at all others.
using NamePlaces = std::unordered_map<std::string_view, NamePlace>;

NamePlaces placesOf(const std::vector<std::string> &names) {
  NamePlaces places;
  for (size_t i = 0; i < names.size(); ++i)
    if (auto [place, isNew] = places.try_emplace(names[i], NamePlace{i, {}});
        !isNew && !place->second.second)
      place->second.second = i;
  return places;
}

/// Finds the column `name`, wanted as `purpose`, among `names`, those of the header row.
absl::StatusOr<size_t> findColumn(const CsvScanner &rows, const std::vector<std::string> &names,
                                  const NamePlaces &places, const std::string &name,
                                  const char *purpose) {
  auto found = places.find(name);
  if (found == places.end())
    return rows.errorAtField(0, absl::StrCat("expects a column named ", quoteForMessage(name),
                                             purpose, ", found ", listNames(names)));
  if (std::optional<size_t> second = found->second.second)
    return rows.errorAtField(*second, absl::StrCat("expects one column named ",
                                                   quoteForMessage(name), ", found a second"));
  return found->second.first;
}

CsvType typeOf(const OptionValue &value) {
  if (value.isList)
    return {DType::I64, textsOf(value)};
  return {parseDType(value.text).value_or(DType::F32), {}};
}

/// Adds a field of the columns in `group`, all of type `type`.
absl::Status addField(const CsvScanner &rows, const NamePlaces &places, const ColumnGroup &group,
                      size_t type, const char *purpose, CsvLayout &layout) {
  DType dtype = layout.types[type].dtype;
  for (const std::string &name : group.names) {
    absl::StatusOr<size_t> index = findColumn(rows, layout.names, places, name, purpose);
    if (!index.ok())
      return index.status();
    int64_t offset =
        static_cast<int64_t>(&name - group.names.data()) * static_cast<int64_t>(sizeOf(dtype));
    layout.columns.push_back({*index, layout.fields.size(), offset, type});
  }
  std::vector<int64_t> shape;
  if (group.isList)
    shape.push_back(static_cast<int64_t>(group.names.size()));
  layout.fields.push_back({dtype, shape});
  return absl::OkStatus();
}

/// The elements of `columns`; without it all columns but the target. A plain list of columns of
/// one type is one field.
std::vector<ColumnGroup> groupColumns(const ReaderInput &input,
                                      const std::vector<std::string> &names, bool hasTypeEach) {
  std::vector<ColumnGroup> groups;
  bool isNested = hasTypeEach;
  if (const OptionValue *columns = input.option("columns")) {
    for (const OptionValue &each : columns->list) {
      groups.push_back({textsOf(each), each.isList});
      isNested |= each.isList;
    }
  } else {
    const OptionValue *target = input.option("target");
    for (const std::string &name : names)
      if (!target || name != target->text)
        groups.push_back({{name}, false});
  }
  if (isNested || groups.empty())
    return groups;
  ColumnGroup all = {{}, true};
  for (const ColumnGroup &group : groups)
    all.names.push_back(group.names.front());
  return {all};
}

//===-- Values --------------------------------------------------------------------------------===//

/// How a value was taken.
enum class Parsed { Good, NotOne, TooLarge };

template <typename Float> Parsed parseFloat(absl::string_view text, char *to) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  Float value = 0;
  const char *end = text.data() + text.size();
  absl::from_chars_result result = absl::from_chars(text.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument || text.empty() ||
      text.find_first_of("xX") != text.npos) // No "0x10".
    return Parsed::NotOne;
  // A number too close to zero becomes zero; one too far from it has no place.
  if (result.ec == std::errc::result_out_of_range && std::abs(value) > 1)
    return Parsed::TooLarge;
  std::memcpy(to, &value, sizeof(value));
  return Parsed::Good;
}

template <typename Int> Parsed parseInt(absl::string_view text, char *to) {
  // Digits first: what has them and does not fit is a whole number, only too large.
  absl::string_view digits = text;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+'))
    digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
    return Parsed::NotOne;
  int64_t wide = 0;
  if (!absl::SimpleAtoi(text, &wide) || wide < std::numeric_limits<Int>::min() ||
      wide > std::numeric_limits<Int>::max())
    return Parsed::TooLarge;
  Int value = static_cast<Int>(wide);
  std::memcpy(to, &value, sizeof(value));
  return Parsed::Good;
}

Parsed parseBool(absl::string_view text, char *to) {
  bool isTrue = text == "1" || text == "true" || text == "True" || text == "TRUE";
  *to = isTrue;
  return isTrue || text == "0" || text == "false" || text == "False" || text == "FALSE"
             ? Parsed::Good
             : Parsed::NotOne;
}

Parsed parseWord(const std::vector<std::string> &words, absl::string_view text, char *to) {
  auto found = std::find(words.begin(), words.end(), toStd(text));
  int64_t index = found - words.begin();
  std::memcpy(to, &index, sizeof(index));
  return found == words.end() ? Parsed::NotOne : Parsed::Good;
}

Parsed parseValue(const CsvType &type, absl::string_view text, char *to) {
  if (!type.words.empty())
    return parseWord(type.words, text, to);
  switch (type.dtype) {
  case DType::F64:
    return parseFloat<double>(text, to);
  case DType::I32:
    return parseInt<int32_t>(text, to);
  case DType::I64:
    return parseInt<int64_t>(text, to);
  case DType::U8:
    return parseInt<uint8_t>(text, to);
  case DType::Bool:
    return parseBool(text, to);
  default:
    return parseFloat<float>(text, to);
  }
}

/// True for what files write where a number is missing.
bool isLikelyMissing(absl::string_view text) {
  for (absl::string_view each : {"", "NA", "N/A", "na", "n/a", "null", "NULL", "None", "-", "?"})
    if (text == each)
      return true;
  return false;
}

void putNan(DType dtype, char *to) {
  if (dtype == DType::F64) {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(to, &value, sizeof(value));
  } else {
    float value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(to, &value, sizeof(value));
  }
}

std::string expectedText(const CsvType &type, Parsed parsed) {
  if (!type.words.empty())
    return absl::StrCat("one of ", listNames(type.words));
  if (type.dtype == DType::Bool)
    return "true, false, 1 or 0";
  std::string what = isFloat(type.dtype) ? "a number" : "a whole number";
  return parsed == Parsed::TooLarge
             ? absl::StrCat(what, " that ", std::string(nameOf(type.dtype)), " can hold")
             : what;
}

} // namespace

bool isCsvType(std::string_view name) {
  for (std::string_view known : {"f32", "f64", "i32", "i64", "u8", "bool"})
    if (name == known)
      return true;
  return false;
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t kMaxShown = 8;
  std::string text = absl::StrJoin(names.begin(), names.begin() + std::min(names.size(), kMaxShown),
                                   ", ", [](std::string *out, const std::string &name) {
                                     absl::StrAppend(out, quoteForMessage(name));
                                   });
  return names.size() > kMaxShown ? absl::StrCat(text, ", ...") : text;
}

absl::StatusOr<CsvLayout> makeLayout(const ReaderInput &input, const CsvScanner &rows,
                                     std::vector<std::string> names) {
  CsvLayout layout;
  layout.names = std::move(names);
  if (const OptionValue *missing = input.option("missing"))
    layout.missing = textsOf(*missing);
  NamePlaces places = placesOf(layout.names);
  const OptionValue *types = input.option("types"), *target = input.option("target");
  bool hasTypeEach = types && types->isList;
  std::vector<ColumnGroup> groups = groupColumns(input, layout.names, hasTypeEach);
  if (groups.empty())
    return rows.errorAtField(0, "expects a column beside the target, found none");
  if (hasTypeEach && types->list.size() != groups.size())
    return rows.errorAtField(0, absl::StrCat("expects ", types->list.size(),
                                             " columns, one for each of 'types', found ",
                                             groups.size()));
  for (size_t i = 0; i < groups.size(); ++i) {
    if (hasTypeEach || i == 0)
      layout.types.push_back(types ? typeOf(hasTypeEach ? types->list[i] : *types) : CsvType());
    if (absl::Status status =
            addField(rows, places, groups[i], layout.types.size() - 1, "", layout);
        !status.ok())
      return status;
  }
  if (!target)
    return layout;
  if (const OptionValue *type = input.option("target_type"))
    layout.types.push_back(typeOf(*type));
  else
    layout.types.push_back(hasTypeEach ? CsvType() : layout.types.front());
  absl::Status status = addField(rows, places, {{target->text}, false}, layout.types.size() - 1,
                                 " for the target", layout);
  if (!status.ok())
    return status;
  return layout;
}

absl::Status parseColumn(const CsvScanner &rows, const CsvLayout &layout, const CsvColumn &column,
                         char *to) {
  const CsvType &type = layout.types[column.type];
  absl::string_view text = absl::StripAsciiWhitespace(toAbsl(rows.field(column.index)));
  bool mayMiss = type.words.empty() && isFloat(type.dtype);
  if (mayMiss && std::find(layout.missing.begin(), layout.missing.end(), toStd(text)) !=
                     layout.missing.end()) {
    putNan(type.dtype, to);
    return absl::OkStatus();
  }
  Parsed parsed = parseValue(type, text, to);
  if (parsed == Parsed::Good)
    return absl::OkStatus();
  std::string hint;
  if (mayMiss && isLikelyMissing(text))
    hint = absl::StrCat(" (missing: \"", text, "\" would read it as NaN)");
  return rows.errorAtField(
      column.index, absl::StrCat("expects ", expectedText(type, parsed), " in column ",
                                 quoteForMessage(layout.names[column.index]), ", found ",
                                 text.empty() ? "nothing" : quoteForMessage(toStd(text)), hint));
}

} // namespace pdg

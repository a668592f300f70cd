// ProgramInfo as JSON. The fields of each table are listed once and both read and written from that
// list; reading checks everything, because a cache entry may be damaged.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/program_info.h"

#include <nlohmann/json.hpp>

#include <concepts>
#include <type_traits>

namespace pdg {

namespace {

using Json = nlohmann::json;

template <typename T, typename Table>
concept Is = std::same_as<std::remove_const_t<T>, Table>;

template <typename Archive, Is<VariableInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("dtype", info.dtype);
  archive.field("shape", info.shape);
  archive.field("param", info.isParam);
  archive.field("whole", info.whole);
  archive.field("bounds", info.bounds);
}

template <typename Archive, Is<FieldInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("dtype", info.dtype);
  archive.field("shape", info.shape);
}

template <typename Archive, Is<OptionValue> T> void visitFields(Archive &archive, T &info) {
  archive.field("text", info.text);
  archive.field("isList", info.isList);
  archive.field("list", info.list);
}

template <typename Archive, Is<SourceOption> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("value", info.value);
}

template <typename Archive, Is<SourceInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("reader", info.reader);
  archive.field("files", info.files);
  archive.field("batch", info.batch);
  archive.field("shuffle", info.shuffle);
  archive.field("window", info.window);
  archive.field("seed", info.seed);
  archive.field("skip", info.skip);
  archive.field("limit", info.limit);
  archive.field("from", info.from);
  archive.field("to", info.to);
  archive.field("repeat", info.repeat);
  archive.field("options", info.options);
  archive.field("fields", info.fields);
  archive.field("location", info.location);
}

template <typename Archive, Is<InputInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("dtype", info.dtype);
  archive.field("shape", info.shape);
}

template <typename Archive, Is<ValueFormat> T> void visitFields(Archive &archive, T &info) {
  archive.field("dtype", info.dtype);
  archive.field("rank", info.rank);
  archive.field("width", info.width);
  archive.field("precision", info.precision);
  archive.field("significant", info.significant);
}

template <typename Archive, Is<TextSite> T> void visitFields(Archive &archive, T &info) {
  archive.field("segments", info.segments);
  archive.field("values", info.values);
  archive.field("code", info.code);
  archive.field("location", info.location);
  archive.field("excerpt", info.excerpt);
}

template <typename Archive, Is<FetchInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("dtype", info.dtype);
  archive.field("shape", info.shape);
}

template <typename Archive, Is<EdgeInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("name", info.name);
  archive.field("dtype", info.dtype);
  archive.field("shape", info.shape);
  archive.field("bound", info.bound);
  archive.field("fromKind", info.fromKind);
  archive.field("fromIndex", info.fromIndex);
  archive.field("toKind", info.toKind);
  archive.field("toIndex", info.toIndex);
  archive.field("firstOnly", info.firstOnly);
  archive.field("depth", info.depth);
  archive.field("place", info.place);
}

template <typename Archive, Is<ProgramInfo> T> void visitFields(Archive &archive, T &info) {
  archive.field("variables", info.variables);
  archive.field("sources", info.sources);
  archive.field("inputs", info.inputs);
  archive.field("texts", info.texts);
  archive.field("fetches", info.fetches);
  archive.field("edges", info.edges);
  archive.field("arenaBytes", info.arenaBytes);
}

class Writer {
public:
  template <typename T> void field(const char *name, const T &value) {
    json[name] = toValue(value);
  }

  Json json = Json::object();

private:
  static Json toValue(const std::string &value) { return value; }
  static Json toValue(int64_t value) { return value; }
  static Json toValue(double value) { return value; }
  static Json toValue(bool value) { return value; }
  static Json toValue(DType value) { return std::string(nameOf(value)); }
  static Json toValue(PeerKind value) { return value == PeerKind::Server; }
  template <typename T> static Json toValue(const std::vector<T> &values) {
    Json list = Json::array();
    for (const T &value : values)
      list.push_back(toValue(value));
    return list;
  }
  template <typename T> static Json toValue(const T &table) {
    Writer writer;
    visitFields(writer, table);
    return std::move(writer.json);
  }
};

// Reads one object; `ok` becomes false at the first field that is missing or of another kind.
class Reader {
public:
  explicit Reader(const Json &json) : json_(json), ok(json.is_object()) {}

  template <typename T> void field(const char *name, T &value) {
    if (!ok)
      return;
    auto found = json_.find(name);
    ok = found != json_.end() && fromValue(*found, value);
  }

private:
  const Json &json_;

public:
  bool ok;

private:
  static bool fromValue(const Json &json, std::string &value) {
    if (!json.is_string())
      return false;
    value = json.get_ref<const std::string &>();
    return true;
  }
  static bool fromValue(const Json &json, int64_t &value) {
    if (!json.is_number_integer())
      return false;
    value = json.get<int64_t>();
    return !json.is_number_unsigned() || value >= 0;
  }
  static bool fromValue(const Json &json, double &value) {
    if (!json.is_number())
      return false;
    value = json.get<double>();
    return true;
  }
  static bool fromValue(const Json &json, bool &value) {
    if (!json.is_boolean())
      return false;
    value = json.get<bool>();
    return true;
  }
  static bool fromValue(const Json &json, DType &value) {
    std::optional<DType> dtype;
    if (json.is_string())
      dtype = parseDType(json.get_ref<const std::string &>());
    value = dtype.value_or(DType::F32);
    return dtype.has_value();
  }
  static bool fromValue(const Json &json, PeerKind &value) {
    bool isServer = false;
    if (!fromValue(json, isServer))
      return false;
    value = isServer ? PeerKind::Server : PeerKind::Trainer;
    return true;
  }
  template <typename T> static bool fromValue(const Json &json, std::vector<T> &values) {
    if (!json.is_array())
      return false;
    values.clear();
    for (const Json &element : json)
      if (!fromValue(element, values.emplace_back()))
        return false;
    return true;
  }
  template <typename T> static bool fromValue(const Json &json, T &table) {
    Reader reader(json);
    visitFields(reader, table);
    return reader.ok;
  }
};

bool isShape(const std::vector<int64_t> &shape, int64_t least) {
  for (int64_t size : shape)
    if (size < least)
      return false;
  return true;
}

// What the rest of the runtime relies on without checking it again.
bool isConsistent(const ProgramInfo &info) {
  bool ok = info.arenaBytes >= 0;
  for (const VariableInfo &variable : info.variables) {
    ok = ok && isShape(variable.shape, 0) && isShape(variable.bounds, 0) &&
         variable.bounds.size() % 2 == 0 && variable.bounds.size() <= 2 * variable.shape.size();
    for (size_t i = 0; ok && i < variable.bounds.size(); i += 2)
      ok = variable.bounds[i + 1] - variable.bounds[i] == variable.shape[i / 2];
  }
  for (const InputInfo &input : info.inputs)
    ok = ok && isShape(input.shape, 0);
  for (const FetchInfo &fetch : info.fetches)
    ok = ok && isShape(fetch.shape, kDynamicSize);
  for (const SourceInfo &source : info.sources) {
    ok = ok && source.batch > 0 && source.window >= 0 && source.skip >= 0 && source.repeat > 0;
    ok = ok && source.limit >= kDynamicSize && 0 <= source.from && source.from < source.to &&
         source.to <= 1;
    for (const FieldInfo &field : source.fields)
      ok = ok && isShape(field.shape, 0);
  }
  for (const EdgeInfo &edge : info.edges)
    ok = ok && isShape(edge.shape, kDynamicSize) && edge.bound >= 0 && edge.depth > 0 &&
         edge.fromIndex >= kAllOfKind && edge.toIndex >= kAllOfKind;
  for (const TextSite &site : info.texts) {
    ok = ok && site.segments.size() == site.values.size() + 1;
    for (const ValueFormat &format : site.values)
      ok = ok && format.rank >= 0 && format.width >= 0 && format.precision >= -1;
  }
  return ok;
}

} // namespace

std::string toJson(const ProgramInfo &info) {
  Writer writer;
  visitFields(writer, info);
  // A name that is not UTF-8 must not stop the run; the default handler would throw.
  return writer.json.dump(1, ' ', false, Json::error_handler_t::replace);
}

bool fromJson(const std::string &text, ProgramInfo &info) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return false;
  Reader reader(json);
  visitFields(reader, info);
  return reader.ok && isConsistent(info);
}

} // namespace pdg

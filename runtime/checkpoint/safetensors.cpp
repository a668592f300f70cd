// Reads and writes safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/safetensors.h"

#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/zip_format.h"

#include <absl/strings/str_cat.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace pdg {

namespace {

using Json = nlohmann::json;

// The format's own limit for the header.
constexpr uint64_t kMaxHeader = 100'000'000;

// So that the first tensor of a mapped file is aligned like ours.
constexpr uint64_t kDataAlignment = 64;

constexpr const char *kMetadata = "__metadata__";

const char *typeCode(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "F32";
  case DType::F64:
    return "F64";
  case DType::I32:
    return "I32";
  case DType::I64:
    return "I64";
  case DType::U8:
    return "U8";
  case DType::Bool:
    return "BOOL";
  case DType::BF16:
    return "BF16";
  case DType::F16:
    return "F16";
  case DType::I8:
    return "I8";
  }
  return "";
}

std::optional<DType> parseTypeCode(const std::string &code) {
#define PDG_DTYPE_TRY(enumerator, name, size, descr)                                               \
  if (code == typeCode(DType::enumerator))                                                         \
    return DType::enumerator;
  PDG_DTYPES(PDG_DTYPE_TRY)
#undef PDG_DTYPE_TRY
  return std::nullopt;
}

// One tensor of a header.
struct Entry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class SafetensorsReader {
public:
  explicit SafetensorsReader(RandomAccessFile file) : file_(std::move(file)) {}

  absl::StatusOr<std::vector<NamedTensor>> read();

private:
  template <typename... Parts> absl::Status wrong(const Parts &...parts) const {
    return absl::DataLossError(absl::StrCat(file_.path(), ": ", parts...));
  }

  absl::Status readHeader();
  absl::Status parseHeader(const std::string &text);
  absl::Status parseEntry(const std::string &name, const Json &json);
  absl::Status checkLayout();

  RandomAccessFile file_;
  uint64_t dataBegin_ = 0;
  std::vector<Entry> entries_;
};

absl::Status SafetensorsReader::readHeader() {
  char start[8];
  if (file_.size() < sizeof(start))
    return wrong("a file of ", file_.size(), " bytes is no safetensors file");
  if (absl::Status status = file_.readAt(0, start, sizeof(start)); !status.ok())
    return status;
  uint64_t length = zip::get(start, 8), left = file_.size() - sizeof(start);
  if (length > left || length > kMaxHeader)
    return wrong("expected a safetensors file, found a header length of ", length, " bytes where ",
                 left, " follow");
  dataBegin_ = sizeof(start) + length;
  std::string text(length, '\0');
  if (absl::Status status = file_.readAt(sizeof(start), text.data(), length); !status.ok())
    return status;
  return parseHeader(text);
}

absl::Status SafetensorsReader::parseHeader(const std::string &text) {
  // A JSON object keeps the last of two equal keys; here the second is an error.
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  auto watchKeys = [&](int depth, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(parsed.get_ref<const std::string &>()).second)
      repeated = parsed.get_ref<const std::string &>();
    return true;
  };
  Json json = Json::parse(text, watchKeys, /*allow_exceptions=*/false);
  if (!json.is_object())
    return wrong("the header is not a JSON object");
  if (!repeated.empty())
    return wrong("the header has the key '", repeated, "' twice");
  for (const auto &[name, value] : json.items()) {
    if (name == kMetadata)
      continue;
    if (absl::Status status = parseEntry(name, value); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

bool getSize(const Json &json, uint64_t &size) {
  if (!json.is_number_unsigned())
    return false;
  size = json.get<uint64_t>();
  return size <= static_cast<uint64_t>(INT64_MAX);
}

absl::Status SafetensorsReader::parseEntry(const std::string &name, const Json &json) {
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return wrong("tensor '", name, "': expected dtype, shape and data_offsets");
  Entry entry;
  entry.name = name;
  const Json &code = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
  if (!code.is_string() || !parseTypeCode(code.get_ref<const std::string &>()))
    return wrong("tensor '", name, "': elements of type ",
                 code.dump(-1, ' ', false, Json::error_handler_t::replace),
                 " are not supported; expected one of F32 F64 I32 I64 U8 BOOL BF16 F16 I8");
  entry.dtype = *parseTypeCode(code.get_ref<const std::string &>());
  if (!shape.is_array())
    return wrong("tensor '", name, "': expected a list of sizes as its shape");
  for (const Json &size : shape) {
    uint64_t value = 0;
    if (!getSize(size, value))
      return wrong("tensor '", name, "': expected sizes >= 0 in its shape");
    entry.shape.push_back(static_cast<int64_t>(value));
  }
  if (!offsets.is_array() || offsets.size() != 2 || !getSize(offsets[0], entry.begin) ||
      !getSize(offsets[1], entry.end) || entry.begin > entry.end)
    return wrong("tensor '", name, "': expected two increasing data_offsets");
  absl::StatusOr<int64_t> numBytes = countBytes(entry.dtype, entry.shape);
  if (!numBytes.ok())
    return wrong("tensor '", name, "': ", std::string(numBytes.status().message()));
  if (entry.end - entry.begin != static_cast<uint64_t>(*numBytes))
    return wrong("tensor '", name, "': expected ", *numBytes, " bytes for ",
                 typeString(entry.dtype, entry.shape), ", found data_offsets of ",
                 entry.end - entry.begin, " bytes");
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

// The tensors must cover the bytes behind the header exactly.
absl::Status SafetensorsReader::checkLayout() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry &left, const Entry &right) {
    return std::tie(left.begin, left.end, left.name) < std::tie(right.begin, right.end, right.name);
  });
  uint64_t covered = 0, dataSize = file_.size() - dataBegin_;
  for (const Entry &entry : entries_) {
    if (entry.begin != covered)
      return wrong("tensor '", entry.name, "': expected to begin at byte ", covered,
                   " of the data, found ", entry.begin,
                   entry.begin < covered ? " (an overlap)" : " (a gap)");
    covered = entry.end;
  }
  if (covered != dataSize)
    return wrong("expected ", covered, " bytes behind the header, found ", dataSize);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NamedTensor>> SafetensorsReader::read() {
  if (absl::Status status = readHeader(); !status.ok())
    return status;
  if (absl::Status status = checkLayout(); !status.ok())
    return status;
  std::vector<NamedTensor> tensors;
  for (Entry &entry : entries_) {
    absl::StatusOr<HostTensor> tensor = HostTensor::create(entry.dtype, std::move(entry.shape));
    if (!tensor.ok())
      return tensor.status();
    if (absl::Status status = file_.readAt(dataBegin_ + entry.begin, tensor->bytes(),
                                           static_cast<uint64_t>(tensor->numBytes()));
        !status.ok())
      return status;
    for (int64_t i = 0; entry.dtype == DType::Bool && i < tensor->numElements(); ++i)
      tensor->bytes()[i] = tensor->bytes()[i] != 0;
    tensors.push_back({std::move(entry.name), *std::move(tensor)});
  }
  return tensors;
}

// The header with its length in front.
absl::StatusOr<std::string> makeHeader(const std::string &path,
                                       const std::vector<const TensorRef *> &ordered) {
  Json json = Json::object();
  uint64_t offset = 0;
  for (const TensorRef *ref : ordered) {
    if (ref->name == kMetadata || json.contains(ref->name))
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": two tensors have the name '", ref->name, "'"));
    uint64_t end = offset + static_cast<uint64_t>(ref->tensor->numBytes());
    json[ref->name] = {{"dtype", typeCode(ref->tensor->dtype())},
                       {"shape", ref->tensor->shape()},
                       {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kDataAlignment - (8 + text.size()) % kDataAlignment) % kDataAlignment, ' ');
  if (text.size() > kMaxHeader)
    return absl::InvalidArgumentError(absl::StrCat(path, ": too many tensors for one file"));
  std::string header;
  zip::put(header, text.size(), 8);
  return header + text;
}

} // namespace

absl::StatusOr<std::vector<NamedTensor>> readSafetensors(const std::string &path) {
  absl::StatusOr<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file.ok())
    return file.status();
  return SafetensorsReader(*std::move(file)).read();
}

absl::Status writeSafetensors(const std::string &path, std::span<const TensorRef> tensors) {
  std::vector<const TensorRef *> ordered;
  for (const TensorRef &ref : tensors)
    ordered.push_back(&ref);
  // Among equals the given order, which is that of the addresses.
  std::sort(ordered.begin(), ordered.end(), [](const TensorRef *left, const TensorRef *right) {
    return std::pair(sizeOf(right->tensor->dtype()), left) <
           std::pair(sizeOf(left->tensor->dtype()), right);
  });
  absl::StatusOr<std::string> header = makeHeader(path, ordered);
  if (!header.ok())
    return header.status();
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(*header); !status.ok())
    return status;
  for (const TensorRef *ref : ordered)
    if (absl::Status status =
            file->append(ref->tensor->bytes(), static_cast<uint64_t>(ref->tensor->numBytes()));
        !status.ok())
      return status;
  return file->commit();
}

} // namespace pdg

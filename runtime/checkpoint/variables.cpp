// Loading compares the whole file with the whole program before it changes anything.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/variables.h"

#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/npz.h"
#include "runtime/checkpoint/safetensors.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace pdg {

namespace {

// Of each kind of fault this many are listed, then only counted.
constexpr size_t kMaxListed = 8;

constexpr const char *kSafetensors = ".safetensors";
constexpr const char *kNpz = ".npz";

absl::Status unknownForm(const std::string &path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected a name that ends in ", kSafetensors, " or ", kNpz));
}

bool isWanted(const std::string &name, std::span<const std::string> only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string &path) {
           return isInScope(name, path);
         });
}

template <typename Bits> void normalizeNaNs(HostTensor &tensor, Bits infinity, Bits quietNaN) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits *elements = reinterpret_cast<Bits *>(tensor.bytes());
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    if ((elements[i] & kMagnitude) > infinity)
      elements[i] = quietNaN;
}

void normalizeNaNs(HostTensor &tensor) {
  switch (tensor.dtype()) {
  case DType::F32:
    return normalizeNaNs<uint32_t>(tensor, 0x7f800000, 0x7fc00000);
  case DType::F64:
    return normalizeNaNs<uint64_t>(tensor, 0x7ff0000000000000, 0x7ff8000000000000);
  case DType::F16:
    return normalizeNaNs<uint16_t>(tensor, 0x7c00, 0x7e00);
  case DType::BF16:
    return normalizeNaNs<uint16_t>(tensor, 0x7f80, 0x7fc0);
  default:
    return;
  }
}

// Lines of an error message, one heading and its list.
void appendList(std::string &message, const char *heading, const std::vector<std::string> &items) {
  if (items.empty())
    return;
  absl::StrAppend(&message, "\n  ", heading);
  for (size_t i = 0; i < std::min(items.size(), kMaxListed); ++i)
    absl::StrAppend(&message, "\n    ", items[i]);
  if (items.size() > kMaxListed)
    absl::StrAppend(&message, "\n    and ", items.size() - kMaxListed, " more");
}

absl::Status checkScopes(const std::string &path, std::span<const TensorRef> variables,
                         std::span<const std::string> only) {
  for (const std::string &scope : only)
    if (std::none_of(variables.begin(), variables.end(),
                     [&](const TensorRef &ref) { return isInScope(ref.name, scope); }))
      return absl::InvalidArgumentError(absl::StrCat("cannot load '", scope, "' from ", path,
                                                     ": the program has no such variable"));
  return absl::OkStatus();
}

// Says whether `name` is the state of an optimizer: no user's name has a slash.
bool isState(const std::string &name) { return absl::StrContains(name, '/'); }

} // namespace

bool isInScope(std::string_view name, std::string_view path) {
  return name.substr(0, path.size()) == path &&
         (name.size() == path.size() || name[path.size()] == '.' || name[path.size()] == '/');
}

absl::StatusOr<std::vector<NamedTensor>> readTensors(const std::string &path) {
  if (absl::EndsWith(path, kSafetensors))
    return readSafetensors(path);
  if (absl::EndsWith(path, kNpz))
    return readNpz(path);
  return unknownForm(path);
}

absl::Status checkTensorFile(const std::string &path) {
  if (!absl::EndsWith(path, kSafetensors) && !absl::EndsWith(path, kNpz))
    return unknownForm(path);
  return AtomicFile::create(path).status();
}

absl::Status writeTensors(const std::string &path, std::span<const TensorRef> tensors) {
  for (const TensorRef &ref : tensors)
    normalizeNaNs(*ref.tensor);
  if (absl::EndsWith(path, kSafetensors))
    return writeSafetensors(path, tensors);
  if (absl::EndsWith(path, kNpz))
    return writeNpz(path, tensors);
  return unknownForm(path);
}

namespace {

std::string lineOf(const std::string &name, const HostTensor &tensor) {
  return absl::StrCat(name, ": ", tensor.typeString());
}

// What of a file goes where.
struct Match {
  LoadReport left; // What is not loaded, and need not be.
  std::vector<std::pair<HostTensor *, const HostTensor *>> copies;
  std::vector<std::string> missing, different, unknown;
  bool onlyStates = true; // Nothing but states of optimizers does not fit.

  bool fits() const { return missing.empty() && different.empty() && unknown.empty(); }
};

Match matchTensors(const std::vector<NamedTensor> &read, std::span<const TensorRef> variables,
                   std::span<const std::string> only) {
  Match match;
  std::map<std::string, const HostTensor *> found;
  std::set<std::string> known;
  for (const TensorRef &variable : variables)
    known.insert(variable.name);
  for (const NamedTensor &named : read) {
    if (isWanted(named.name, only))
      found[named.name] = &named.tensor;
    else if (!known.contains(named.name)) // Else it is among those that keep their first values.
      match.left.unused.push_back(lineOf(named.name, named.tensor));
  }
  auto misses = [&](std::vector<std::string> &list, std::vector<std::string> &leftAlone,
                    const std::string &name, const HostTensor &tensor) {
    bool isLeft = !only.empty() && isState(name);
    match.onlyStates &= isLeft || isState(name);
    (isLeft ? leftAlone : list).push_back(lineOf(name, tensor));
  };
  for (const TensorRef &variable : variables) {
    if (!isWanted(variable.name, only)) {
      match.left.kept.push_back(lineOf(variable.name, *variable.tensor));
      continue;
    }
    auto entry = found.find(variable.name);
    if (entry == found.end()) {
      misses(match.missing, match.left.kept, variable.name, *variable.tensor);
      continue;
    }
    std::string expected = variable.tensor->typeString(), type = entry->second->typeString();
    if (type != expected)
      match.different.push_back(
          absl::StrCat(variable.name, ": expected ", expected, ", found ", type));
    match.copies.emplace_back(variable.tensor, entry->second);
    found.erase(entry);
  }
  for (const auto &[name, tensor] : found)
    misses(match.unknown, match.left.unused, name, *tensor);
  return match;
}

absl::Status describeMisfit(const std::string &path, const Match &match, bool hasOnly) {
  std::string message = absl::StrCat(path, " does not fit the program:");
  appendList(message, "variables that the file lacks:", match.missing);
  appendList(message, "variables of another type or shape:", match.different);
  appendList(message, "tensors that the program does not know:", match.unknown);
  if (match.onlyStates && match.different.empty())
    absl::StrAppend(&message, "\n  hint: these are states of optimizers; --only NAME loads the ",
                    "variables in the scope NAME, with the states that both have");
  else if (match.missing.empty() && match.different.empty() && !hasOnly)
    absl::StrAppend(&message, "\n  hint: --only NAME loads the variables in the scope NAME of the ",
                    "program and leaves out the rest of the file");
  return absl::InvalidArgumentError(message);
}

} // namespace

absl::Status loadVariables(const std::string &path, std::span<const TensorRef> variables,
                           std::span<const std::string> only, LoadReport *report) {
  if (absl::Status status = checkScopes(path, variables, only); !status.ok())
    return status;
  absl::StatusOr<std::vector<NamedTensor>> read = readTensors(path);
  if (!read.ok())
    return read.status();
  Match match = matchTensors(*read, variables, only);
  if (!match.fits())
    return describeMisfit(path, match, !only.empty());
  for (auto [to, from] : match.copies)
    std::memcpy(to->bytes(), from->bytes(), static_cast<size_t>(to->numBytes()));
  match.left.numLoaded = static_cast<int64_t>(match.copies.size());
  if (report)
    *report = std::move(match.left);
  return absl::OkStatus();
}

std::string describe(const LoadReport &report, const std::string &path) {
  if (report.kept.empty() && report.unused.empty())
    return "";
  std::string text = absl::StrCat("note: loaded ", report.numLoaded, " of ",
                                  report.numLoaded + static_cast<int64_t>(report.kept.size()),
                                  " variables from ", path);
  appendList(text, "not loaded, so with their first values:", report.kept);
  appendList(text, "in the file and not used:", report.unused);
  return text + "\n";
}

} // namespace pdg

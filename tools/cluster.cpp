// Modes, units, and the cluster that the command line describes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster.h"

#include "frontend/names.h"
#include "runtime/base/text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <span>

namespace pdg {

//===- Modes ---------------------------------------------------------------===//

/// The words of the command line, and whether a number follows.
static constexpr struct {
  std::string_view word;
  ClusterMode mode;
  bool hasBound;
} modeWords[] = {{"sync", ClusterMode::Sync, false},
                 {"async", ClusterMode::Async, false},
                 {"all-reduce", ClusterMode::AllReduce, false},
                 {"bounded:", ClusterMode::Bounded, true},
                 {"local:", ClusterMode::Local, true}};

std::string ClusterModeSpec::str() const {
  for (const auto &known : modeWords)
    if (known.mode == mode)
      return std::string(known.word) + (known.hasBound ? std::to_string(bound) : "");
  return "";
}

std::optional<ClusterModeSpec> parseClusterMode(std::string_view text) {
  for (const auto &known : modeWords) {
    ClusterModeSpec spec{known.mode, 0};
    if (!text.starts_with(known.word))
      continue;
    if (known.hasBound &&
        (!absl::SimpleAtoi(toAbsl(text.substr(known.word.size())), &spec.bound) || spec.bound < 1))
      return std::nullopt;
    if (spec.str() == text)
      return spec;
  }
  return std::nullopt;
}

ClusterAttr attributeOf(const Cluster &cluster, mlir::MLIRContext *context) {
  // Without servers each trainer's process keeps a part of the variables.
  int64_t servers = cluster.mode.hasServers() ? cluster.servers.count : cluster.trainers.count;
  return ClusterAttr::get(context, cluster.trainers.count, servers, cluster.devices(),
                          cluster.mode.mode, cluster.mode.bound, cluster.trainers.memory,
                          cluster.servers.memory);
}

//===- Units ---------------------------------------------------------------===//

/// A unit and what one of it is.
struct Unit {
  std::string_view name;
  double factor;
};

static constexpr Unit memoryUnits[] = {{"B", 1},        {"KB", 1e3},     {"MB", 1e6},
                                       {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
                                       {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
static constexpr Unit bandwidthUnits[] = {
    {"bit/s", 1.0 / 8},  {"kbit/s", 1e3 / 8},  {"Mbit/s", 1e6 / 8},
    {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}, {"B/s", 1},
    {"KB/s", 1e3},       {"MB/s", 1e6},        {"GB/s", 1e9}};
static constexpr Unit durationUnits[] = {
    {"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}};

/// Reads a number and a unit. `example` is what a right text looks like.
static std::optional<double> parseQuantity(std::string_view text, std::span<const Unit> units,
                                           std::string_view example, std::string &wrong) {
  size_t digits = text.find_first_not_of("0123456789.");
  std::string_view number = text.substr(0, digits);
  std::string_view unit = digits == text.npos ? "" : text.substr(digits);
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  double value = 0;
  bool isNumber = absl::SimpleAtod(toAbsl(number), &value) && std::isfinite(value);
  std::vector<std::string> names;
  for (const Unit &known : units) {
    if (isNumber && unit == known.name)
      return value * known.factor;
    names.emplace_back(known.name);
  }
  wrong = absl::StrFormat("expects a number with a unit such as \"%s\", got \"%s\"",
                          toAbsl(example), toAbsl(text));
  if (std::string near = findNearest(std::string(unit), names); isNumber && !near.empty())
    wrong += "; did you mean '" + near + "'?";
  return std::nullopt;
}

std::optional<int64_t> parseMemory(std::string_view text, std::string &wrong) {
  std::optional<double> bytes = parseQuantity(text, memoryUnits, "16GiB", wrong);
  if (!bytes || (*bytes >= 1 && *bytes < 0x1p62))
    return bytes ? std::optional<int64_t>(std::llround(*bytes)) : std::nullopt;
  wrong = absl::StrFormat("expects between one byte and 2^62 bytes, got \"%s\"", toAbsl(text));
  return std::nullopt;
}

std::optional<double> parseBandwidth(std::string_view text, std::string &wrong) {
  std::optional<double> rate = parseQuantity(text, bandwidthUnits, "10Gbit/s", wrong);
  if (!rate || *rate >= 1)
    return rate;
  wrong = absl::StrFormat("expects at least one byte a second, got \"%s\"", toAbsl(text));
  return std::nullopt;
}

std::optional<double> parseDuration(std::string_view text, std::string &wrong) {
  return parseQuantity(text, durationUnits, "50us", wrong);
}

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrFormat("%.0f B", bytes)
                   : absl::StrFormat("%.1f %s", bytes, units[unit]);
}

bool checkRunnable(const ClusterOptions &options, SourceManager &sources,
                   DiagnosticEngine &diagnostics) {
  std::optional<Cluster> cluster = makeCluster(options, sources, diagnostics);
  if (!cluster)
    return false;
  for (const auto &[place, what] : cluster->plannedOnly)
    diagnostics.report(DiagCode::PD0114, place, what + ": it can be planned for, but not run yet")
        .withHint("`pdc run` starts all processes on this machine; leave this out, or give "
                  "--trainers and --servers");
  return cluster->plannedOnly.empty();
}

//===- The command line ----------------------------------------------------===//

std::optional<Cluster> makeCluster(const ClusterOptions &options, SourceManager &sources,
                                   DiagnosticEngine &diagnostics) {
  if (!options.file.empty()) {
    absl::StatusOr<FileId> file = sources.load(options.file);
    if (file.ok())
      return readClusterFile(*file, sources, diagnostics);
    diagnostics.report(DiagCode::PD0001, {},
                       options.file + ": " + std::string(toStd(file.status().message())));
    return std::nullopt;
  }
  Cluster cluster;
  cluster.trainers.count = options.trainers;
  cluster.servers.count = options.servers;
  if (std::optional<ClusterModeSpec> mode = parseClusterMode(options.mode))
    cluster.mode = *mode;
  bool needsServers = cluster.mode.hasServers();
  if (needsServers && options.isCluster() && options.servers == 0)
    cluster.servers.count = 1;
  if (!needsServers && options.servers > 0) {
    diagnostics
        .report(DiagCode::PD0203, {},
                "mode all-reduce has no servers, got --servers " + std::to_string(options.servers))
        .withHint("leave --servers out: each trainer keeps a part of the variables");
    return std::nullopt;
  }
  return cluster;
}

} // namespace pdg

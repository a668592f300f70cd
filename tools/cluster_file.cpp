// Reads a cluster file: each key once, with its place, so that every error names a line and column.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/names.h"
#include "tools/cluster.h"

#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <set>

namespace pdg {
namespace {

/// Reads one file. Each key of a table has a function that reads its value.
class ClusterReader {
public:
  ClusterReader(FileId file, const SourceManager &sources, DiagnosticEngine &diagnostics)
      : file_(file), source_(sources.file(file)), diagnostics_(diagnostics) {}

  std::optional<Cluster> read();

private:
  using Read = void (ClusterReader::*)(const toml::node &);
  using Keys = std::map<std::string, Read, std::less<>>;

  void readTable(const toml::table &table, const std::string &name, const Keys &keys);
  const toml::table *asTable(const toml::node &node, const std::string &name);
  void reportUnknown(const toml::key &key, const std::string &table, const Keys &keys);

  void readMode(const toml::node &node);
  void readRestart(const toml::node &node);
  void readServers(const toml::node &node);
  void readTrainers(const toml::node &node);
  void readHosts(const toml::node &node);
  void readDevices(const toml::node &node);
  void readMemory(const toml::node &node);
  void readNetwork(const toml::node &node);
  void readBandwidth(const toml::node &node);
  void readLatency(const toml::node &node);
  void readWire(const toml::node &node);
  void readLaunch(const toml::node &node);
  void readLaunchBy(const toml::node &node);
  void readTls(const toml::node &node);
  void check();
  void checkHosts(const ClusterRole &role, const std::vector<Span> &places, bool isFixedOnly);

  /// The text of a node; nothing, after an error, if it is no text.
  std::optional<std::string> text(const toml::node &node, const char *example);
  std::vector<std::pair<std::string, Span>> texts(const toml::node &node, const char *example);
  /// One of `words`, or an error.
  std::string word(const toml::node &node, const std::vector<std::string> &words);

  uint32_t offsetOf(const toml::source_position &at) const;
  Span spanOf(const toml::source_region &region) const;
  Span spanOf(const toml::node &node) const { return spanOf(node.source()); }
  void refuse(const toml::node &node, const std::string &message) {
    diagnostics_.report(DiagCode::PD0202, spanOf(node), message);
  }

  void planOnly(const toml::node &node, const std::string &what) {
    cluster_.plannedOnly.emplace_back(spanOf(node), what);
  }

  FileId file_;
  const SourceFile &source_;
  DiagnosticEngine &diagnostics_;
  Cluster cluster_;
  ClusterRole *role_ = nullptr; ///< Whose table is being read.
  std::map<const ClusterRole *, std::vector<Span>> hostPlaces_;
  std::map<std::string, Span> seenHosts_;
  Span modePlace_;
};

//===- Places --------------------------------------------------------------===//

uint32_t ClusterReader::offsetOf(const toml::source_position &at) const {
  if (at.line == 0 || at.line > source_.lineCount())
    return static_cast<uint32_t>(source_.text().size());
  std::string_view line = source_.lineText(at.line);
  size_t offset = 0;
  for (uint32_t column = 1; column < at.column && offset < line.size(); ++column)
    decodeUtf8(line, offset);
  return source_.lineStart(at.line) + static_cast<uint32_t>(offset);
}

Span ClusterReader::spanOf(const toml::source_region &region) const {
  uint32_t begin = offsetOf(region.begin), end = offsetOf(region.end);
  // A table is shown by its first line.
  if (region.end.line != region.begin.line && region.begin.line >= 1 &&
      region.begin.line <= source_.lineCount())
    end = source_.lineStart(region.begin.line) +
          static_cast<uint32_t>(source_.lineText(region.begin.line).size());
  return {file_, begin, std::max(begin, end)};
}

//===- Values --------------------------------------------------------------===//

std::optional<std::string> ClusterReader::text(const toml::node &node, const char *example) {
  if (const auto *value = node.as_string())
    return value->get();
  refuse(node, std::string("expects a text such as ") + example);
  return std::nullopt;
}

std::vector<std::pair<std::string, Span>> ClusterReader::texts(const toml::node &node,
                                                               const char *example) {
  std::vector<std::pair<std::string, Span>> found;
  const toml::array *list = node.as_array();
  if (!list || list->empty()) {
    refuse(node, std::string("expects a list of texts such as ") + example);
    return found;
  }
  for (const toml::node &element : *list)
    if (std::optional<std::string> one = text(element, example))
      found.emplace_back(*one, spanOf(element));
  return found;
}

std::string ClusterReader::word(const toml::node &node, const std::vector<std::string> &words) {
  std::optional<std::string> found = text(node, ("\"" + words[0] + "\"").c_str());
  if (!found || std::find(words.begin(), words.end(), *found) != words.end())
    return found.value_or(words[0]);
  std::string all;
  for (const std::string &known : words)
    all += (all.empty() ? "" : &known == &words.back() ? " or " : ", ") + known;
  Diagnostic &message = diagnostics_.report(DiagCode::PD0202, spanOf(node),
                                            "expects " + all + ", got \"" + *found + "\"");
  if (std::string near = findNearest(*found, words); !near.empty())
    message.withHint("did you mean '" + near + "'?");
  return words[0];
}

//===- Tables --------------------------------------------------------------===//

void ClusterReader::reportUnknown(const toml::key &key, const std::string &table,
                                  const Keys &keys) {
  std::vector<std::string> names;
  std::string all;
  for (const auto &[name, read] : keys) {
    names.push_back(name);
    all += (all.empty() ? "" : ", ") + name;
  }
  std::string name(key.str());
  Diagnostic &message = diagnostics_.report(DiagCode::PD0201, spanOf(key.source()),
                                            "a cluster file has no key '" + name + "'" +
                                                (table.empty() ? "" : " in [" + table + "]"));
  if (std::string near = findNearest(name, names); !near.empty())
    message.withHint("did you mean '" + near + "'?");
  else
    message.withHint("the keys here are " + all);
}

void ClusterReader::readTable(const toml::table &table, const std::string &name, const Keys &keys) {
  for (auto &&[key, value] : table) {
    auto known = keys.find(key.str());
    if (known == keys.end())
      reportUnknown(key, name, keys);
    else
      (this->*known->second)(value);
  }
}

const toml::table *ClusterReader::asTable(const toml::node &node, const std::string &name) {
  if (!node.is_table())
    refuse(node, "expects a table, [" + name + "]");
  return node.as_table();
}

void ClusterReader::readServers(const toml::node &node) {
  role_ = &cluster_.servers;
  role_->place = spanOf(node);
  if (const toml::table *table = asTable(node, "servers"))
    readTable(*table, "servers",
              {{"hosts", &ClusterReader::readHosts}, {"memory", &ClusterReader::readMemory}});
}

void ClusterReader::readTrainers(const toml::node &node) {
  role_ = &cluster_.trainers;
  role_->place = spanOf(node);
  if (const toml::table *table = asTable(node, "trainers"))
    readTable(*table, "trainers",
              {{"hosts", &ClusterReader::readHosts},
               {"devices", &ClusterReader::readDevices},
               {"memory", &ClusterReader::readMemory}});
}

void ClusterReader::readNetwork(const toml::node &node) {
  if (const toml::table *table = asTable(node, "network"))
    readTable(*table, "network",
              {{"bandwidth", &ClusterReader::readBandwidth},
               {"latency", &ClusterReader::readLatency},
               {"wire", &ClusterReader::readWire}});
}

void ClusterReader::readLaunch(const toml::node &node) {
  if (const toml::table *table = asTable(node, "launch"))
    readTable(*table, "launch",
              {{"by", &ClusterReader::readLaunchBy}, {"tls", &ClusterReader::readTls}});
}

//===- Keys ----------------------------------------------------------------===//

void ClusterReader::readMode(const toml::node &node) {
  modePlace_ = spanOf(node);
  std::optional<std::string> found = text(node, "\"sync\"");
  if (!found)
    return;
  if (std::optional<ClusterModeSpec> mode = parseClusterMode(*found)) {
    cluster_.mode = *mode;
    return;
  }
  Diagnostic &message = diagnostics_.report(DiagCode::PD0202, modePlace_,
                                            "expects a mode: " + std::string(clusterModeForms) +
                                                " with a whole "
                                                "number K of 1 or more, got \"" +
                                                *found + "\"");
  std::string near = findNearest(*found, {"sync", "async", "bounded:4", "local:4", "all-reduce"});
  if (!near.empty())
    message.withHint("did you mean '" + near + "'?");
}

void ClusterReader::readRestart(const toml::node &node) {
  const auto *number = node.as_integer();
  if (!number || number->get() < 0)
    return refuse(node, "expects how often a lost process is started again, a whole number");
  cluster_.restart = number->get();
  if (cluster_.restart > 0)
    planOnly(node, "starts lost processes again");
}

/// What is wrong with "host", "host:port" or "[::1]:port", or an empty text.
std::string wrongHost(const std::string &host) {
  size_t close = host.starts_with('[') ? host.find(']') : 0;
  size_t colon = host.find(':', close == std::string::npos ? 0 : close);
  std::string name = host.substr(0, colon);
  auto isBad = [](unsigned char c) { return c <= ' ' || c == '/' || c == '"' || c == 127; };
  if (name.empty() || close == std::string::npos || std::any_of(host.begin(), host.end(), isBad))
    return "expects a host such as \"10.0.0.1\" or \"10.0.0.1:7000\", got \"" + host + "\"";
  if (colon == std::string::npos)
    return "";
  std::string port = host.substr(colon + 1);
  bool isNumber = !port.empty() && port.size() <= 5 &&
                  port.find_first_not_of("0123456789") == std::string::npos;
  if (!isNumber || std::stoi(port) < 1 || std::stoi(port) > 65535)
    return "expects a port of 1 to 65535 behind the ':', got \"" + port + "\"";
  return "";
}

/// True for names of the machine on which `pdc` runs.
bool isThisMachine(const std::string &host) {
  std::string name =
      host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  return name == "localhost" || name.starts_with("127.") || name == "[::1]";
}

void ClusterReader::readHosts(const toml::node &node) {
  for (const auto &[host, place] : texts(node, "\"10.0.0.1\"")) {
    if (std::string wrong = wrongHost(host); !wrong.empty()) {
      diagnostics_.report(DiagCode::PD0202, place, wrong);
      continue;
    }
    if (!isThisMachine(host))
      cluster_.plannedOnly.emplace_back(place, "names host \"" + host + "\", another machine");
    role_->hosts.push_back(host);
    hostPlaces_[role_].push_back(place);
  }
  role_->count = static_cast<int64_t>(role_->hosts.size());
}

void ClusterReader::readDevices(const toml::node &node) {
  std::map<std::string, Span> seen;
  for (const auto &[device, place] : texts(node, "\"cuda:0\"")) {
    size_t colon = device.find(':');
    std::string kind = device.substr(0, colon);
    std::string number = colon == std::string::npos ? "0" : device.substr(colon + 1);
    bool isKnown = kind == "cpu" || kind == "cuda" || kind == "emulated";
    if (!isKnown || number.empty() || number.size() > 4 ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      diagnostics_.report(DiagCode::PD0202, place,
                          "expects a device such as \"cuda:0\", \"emulated:0\" or \"cpu\", got \"" +
                              device + "\"");
      continue;
    }
    auto [first, isNew] = seen.emplace(device, place);
    if (!isNew)
      diagnostics_.report(DiagCode::PD0203, place, "names device \"" + device + "\" twice")
          .withSecondary(first->second, "first named here");
    role_->devices.push_back(device);
  }
}

void ClusterReader::readMemory(const toml::node &node) {
  std::string wrong;
  std::optional<std::string> found = text(node, "\"16GiB\"");
  std::optional<int64_t> bytes = found ? parseMemory(*found, wrong) : std::nullopt;
  if (found && !bytes)
    refuse(node, wrong);
  role_->memory = bytes.value_or(0);
  role_->memoryPlace = spanOf(node);
}

void ClusterReader::readBandwidth(const toml::node &node) {
  std::string wrong;
  std::optional<std::string> found = text(node, "\"10Gbit/s\"");
  std::optional<double> rate = found ? parseBandwidth(*found, wrong) : std::nullopt;
  if (found && !rate)
    refuse(node, wrong);
  cluster_.network.bandwidth = rate.value_or(cluster_.network.bandwidth);
}

void ClusterReader::readLatency(const toml::node &node) {
  std::string wrong;
  std::optional<std::string> found = text(node, "\"50us\"");
  std::optional<double> seconds = found ? parseDuration(*found, wrong) : std::nullopt;
  if (found && !seconds)
    refuse(node, wrong);
  cluster_.network.latency = seconds.value_or(cluster_.network.latency);
}

void ClusterReader::readWire(const toml::node &node) {
  cluster_.network.wire = word(node, {"f32", "bf16", "f16"});
  if (cluster_.network.wire != "f32")
    planOnly(node, "sends floats in fewer bits");
}
void ClusterReader::readLaunchBy(const toml::node &node) {
  cluster_.launch = word(node, {"local", "ssh"});
  if (cluster_.launch != "local")
    planOnly(node, "starts processes on other machines");
}
void ClusterReader::readTls(const toml::node &node) {
  cluster_.tls = text(node, "\"certs/\"").value_or("");
  planOnly(node, "names a folder of certificates");
}

//===- The cluster as a whole ----------------------------------------------===//

/// Reports hosts that are named twice. Of different roles only those with a port collide.
void ClusterReader::checkHosts(const ClusterRole &role, const std::vector<Span> &places,
                               bool isFixedOnly) {
  std::set<std::string> own;
  for (size_t i = 0; i < role.hosts.size(); ++i) {
    const std::string &host = role.hosts[i];
    bool hasPort = host.rfind(':') != std::string::npos && !host.ends_with(']');
    auto [first, isNew] = seenHosts_.emplace(host, places[i]);
    if (isNew || (!hasPort && !own.contains(host) && isFixedOnly)) {
      own.insert(host);
      continue;
    }
    diagnostics_.report(DiagCode::PD0203, places[i], "names host \"" + host + "\" twice")
        .withSecondary(first->second, "first named here")
        .withHint("several processes on one host have ports of their own: \"" +
                  (hasPort ? host.substr(0, host.rfind(':')) : host) + ":7001\"");
  }
}

void ClusterReader::check() {
  Span whole{file_, 0, 0};
  checkHosts(cluster_.servers, hostPlaces_[&cluster_.servers], false);
  checkHosts(cluster_.trainers, hostPlaces_[&cluster_.trainers], true);
  bool needsServers = cluster_.mode.hasServers();
  bool hasHosts = !cluster_.servers.hosts.empty();
  if (needsServers && !hasHosts)
    diagnostics_
        .report(DiagCode::PD0203,
                cluster_.servers.place.isValid() ? cluster_.servers.place
                : modePlace_.isValid()           ? modePlace_
                                                 : whole,
                "mode " + cluster_.mode.str() +
                    " keeps the variables on servers, and there is none")
        .withHint("add [servers] with hosts = [\"10.0.0.1\"], or take mode = \"all-reduce\"");
  if (!needsServers && cluster_.servers.place.isValid())
    diagnostics_
        .report(DiagCode::PD0203, cluster_.servers.place,
                "mode all-reduce has no servers, and [servers] names some")
        .withHint("remove [servers]: each trainer keeps a part of the variables");
  if (cluster_.trainers.hosts.empty())
    diagnostics_
        .report(DiagCode::PD0203,
                cluster_.trainers.place.isValid() ? cluster_.trainers.place : whole,
                "a cluster needs a trainer, and there is none")
        .withHint("add [trainers] with hosts = [\"10.0.0.3\"]");
}

std::optional<Cluster> ClusterReader::read() {
  size_t errorsBefore = diagnostics_.errorCount();
  toml::table table;
  // The only exception of the library; none leaves this function.
  try {
    std::string_view text = source_.text();
    table = toml::parse(text);
  } catch (const toml::parse_error &error) {
    Span at = spanOf(error.source());
    diagnostics_.report(DiagCode::PD0200, {file_, at.begin, at.begin},
                        "is not TOML: " + std::string(error.description()));
    return std::nullopt;
  }
  readTable(table, "",
            {{"mode", &ClusterReader::readMode},
             {"restart", &ClusterReader::readRestart},
             {"servers", &ClusterReader::readServers},
             {"trainers", &ClusterReader::readTrainers},
             {"network", &ClusterReader::readNetwork},
             {"launch", &ClusterReader::readLaunch}});
  if (diagnostics_.errorCount() == errorsBefore)
    check();
  if (diagnostics_.errorCount() != errorsBefore)
    return std::nullopt;
  return std::move(cluster_);
}

} // namespace

std::optional<Cluster> readClusterFile(FileId file, const SourceManager &sources,
                                       DiagnosticEngine &diagnostics) {
  return ClusterReader(file, sources, diagnostics).read();
}

} // namespace pdg

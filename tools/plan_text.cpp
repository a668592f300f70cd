// Plans as tables for people.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "tools/plan.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <map>
#include <set>

namespace pdg {
namespace {

/// Lines of cells, laid out in columns.
class Table {
public:
  explicit Table(std::vector<std::string> head, std::vector<bool> isRight)
      : lines_{std::move(head)}, isRight_(std::move(isRight)) {}

  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }
  bool empty() const { return lines_.size() == 1; }

  std::string str() const {
    std::vector<size_t> widths(lines_[0].size(), 0);
    for (const auto &line : lines_)
      for (size_t i = 0; i < line.size(); ++i)
        widths[i] = std::max(widths[i], countCodePoints(line[i]));
    std::string text;
    for (const auto &line : lines_) {
      std::string row = " ";
      for (size_t i = 0; i < line.size(); ++i) {
        std::string space(widths[i] - countCodePoints(line[i]), ' ');
        row += " " + (isRight_[i] ? space + line[i] : line[i] + space) + " ";
      }
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
    return text;
  }

private:
  std::vector<std::vector<std::string>> lines_;
  std::vector<bool> isRight_;
};

std::string counted(int64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "model.pdg:12:5" without the folder.
std::string shortPlace(const std::string &place) {
  return place.substr(place.rfind('/') == std::string::npos ? 0 : place.rfind('/') + 1);
}

/// True if `state` belongs to `variable` (both by printed name), slice to slice.
bool isStateOf(const PlannedVariable &state, const PlannedVariable &variable) {
  size_t bracket = variable.name.find('[');
  std::string slice = bracket == std::string::npos ? "" : variable.name.substr(bracket);
  return state.home == variable.home &&
         state.name.starts_with(variable.name.substr(0, bracket) + "/") &&
         (state.name.ends_with(slice) || !state.name.ends_with(']'));
}

std::string edgeBytes(const PlannedEdge &edge) {
  return (edge.isUnbounded ? ">= "
          : edge.isBound   ? "<= "
                           : "") +
         bytesText(static_cast<double>(edge.bytes));
}

/// "server 0", or "each trainer" of several.
std::string roleText(const std::string &role, const Plan &plan) {
  return role == "trainer" && plan.cluster.trainers.count > 1 ? "each trainer" : role;
}

std::string bitsText(const Plan &plan) {
  if (!plan.cluster.mode.isSynchronous())
    return "  not fixed: in mode " + plan.cluster.mode.str() +
           " the result depends on who is faster\n";
  std::string text;
  std::string replicas = std::to_string(plan.replicas);
  for (const PlannedSource &source : plan.sources)
    text += "  " + source.name + ", batches of " + std::to_string(source.batch) + " at " +
            shortPlace(source.place) + ":\n    " +
            (source.isPlain
                 ? "those of the plain run: " + replicas + " divides its " +
                       std::to_string(source.leaves) + (source.leaves == 1 ? " leaf" : " leaves")
                 : "those of `pdc run --replicas " + replicas + "`: " + replicas +
                       " does not divide its " + std::to_string(source.leaves) + " leaves") +
            "\n";
  return text.empty() ? "  those of the plain run\n" : text;
}

std::string variablesText(const Plan &plan) {
  Table table({"variable", "type", "bytes", "home", "line"}, {false, false, true, false, false});
  for (const PlannedVariable &variable : plan.variables)
    table.add({variable.name, variable.type, bytesText(static_cast<double>(variable.bytes)),
               roleText(variable.home, plan), shortPlace(variable.place)});
  return table.empty() ? "  none\n" : table.str();
}

std::string edgesText(const Plan &plan, bool isStep) {
  Table table({"", "what", "from", "to", "bytes", "messages", "line"},
              {true, false, false, false, true, true, false});
  int64_t number = 0;
  for (const PlannedEdge &edge : plan.edges) {
    if ((edge.rate == EdgeRate::Outside) == isStep)
      continue;
    std::string messages = std::to_string(edge.messages);
    if (edge.rate == EdgeRate::Inner)
      messages += " a round";
    if (edge.isConditional)
      messages += " if so";
    if (edge.group >= 0)
      messages += ", group " + std::to_string(edge.group);
    table.add({std::to_string(++number), edge.what, edge.from, edge.to, edgeBytes(edge), messages,
               shortPlace(edge.place)});
  }
  return table.empty() ? "  nothing\n" : table.str();
}

std::string linksText(const Plan &plan) {
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> links;
  for (const PlannedEdge &edge : plan.edges)
    if (edge.rate != EdgeRate::Outside) {
      auto &[bytes, messages] = links[{edge.from, edge.to}];
      bytes += edge.bytes * edge.messages;
      messages += edge.messages;
    }
  Table table({"from", "to", "bytes", "messages"}, {false, false, true, true});
  for (const auto &[ends, sums] : links)
    table.add({ends.first == "trainer" ? "all trainers" : ends.first,
               ends.second == "trainer" ? "all trainers" : ends.second,
               bytesText(static_cast<double>(sums.first)), std::to_string(sums.second)});
  return table.empty() ? "  nothing\n" : table.str();
}

std::string rolesText(const Plan &plan) {
  Table table({"process", "number", "variables", "values", "messages", "in all", "limit",
               "sent a step", "received a step"},
              {false, true, true, true, true, true, true, true, true});
  auto bytes = [](int64_t count) { return bytesText(static_cast<double>(count)); };
  for (const PlannedRole &role : plan.roles)
    table.add({plan.cluster.mode.hasServers() || role.name == "trainer"
                   ? role.name
                   : role.name + ", a part of trainer" + role.name.substr(6),
               std::to_string(role.processes), bytes(role.memory.variables),
               bytes(role.memory.values), bytes(role.memory.messages), bytes(role.memory.total()),
               role.limit ? bytes(role.limit) : "-", bytes(role.sent), bytes(role.received)});
  return table.str();
}

std::string secondsText(double seconds) {
  if (seconds >= 1)
    return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3)
    return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

} // namespace

std::string planText(const Plan &plan) {
  const Cluster &cluster = plan.cluster;
  std::string text = "cluster: " + counted(cluster.trainers.count, "trainer");
  if (cluster.devices() > 1)
    text += " with " + counted(cluster.devices(), "device") + " each";
  text += cluster.mode.hasServers() ? ", " + counted(cluster.servers.count, "server")
                                    : " that keep a part of the variables each";
  text += ", mode " + cluster.mode.str() + "\n\nbits\n" + bitsText(plan);
  text += "\nvariables\n" + variablesText(plan);
  text += "\neach step" + (plan.step.empty() ? "" : ", the loop at " + shortPlace(plan.step)) +
          ", in the order of a trainer\n" + edgesText(plan, true);
  text += "\nlinks, each step\n" + linksText(plan);
  text += "\nelsewhere: before and behind the steps, and in other loops\n" + edgesText(plan, false);
  text += "\nprocesses, memory of each at most\n" + rolesText(plan);
  return text;
}

std::string simulationText(const Simulation &simulation, const Cluster &cluster) {
  std::string text =
      absl::StrFormat("\nsimulated: links of %s/s, %s from process to process\n",
                      bytesText(cluster.network.bandwidth), secondsText(cluster.network.latency));
  text += "  a step takes " + secondsText(simulation.step) + ": the slowest trainer computes for " +
          secondsText(simulation.computing) + " and waits for " + secondsText(simulation.waiting) +
          "\n";
  for (const auto &[edge, seconds] : simulation.waits)
    text += "    " + secondsText(seconds) + " for " + edge + "\n";
  if (!simulation.busiest.empty())
    text += absl::StrFormat("  the fullest link is that of %s: %.0f %% of the time\n",
                            simulation.busiest, 100 * simulation.busiestShare);
  return text;
}

//===- One variable --------------------------------------------------------===//

std::string explainVariable(const Plan &plan, const std::string &name) {
  std::string text;
  std::map<std::string, int64_t> held;
  for (const PlannedRole &role : plan.roles)
    held[role.name] = role.memory.variables;
  for (const PlannedVariable &variable : plan.variables) {
    bool isIt = variable.name == name || variable.name.starts_with(name + "[");
    if (!isIt)
      continue;
    text += variable.name + ": " + variable.type + ", " +
            bytesText(static_cast<double>(variable.bytes)) + ", on " +
            roleText(variable.home, plan) + " (" + shortPlace(variable.place) + ")\n";
    if (!variable.why.empty())
      text += "  why: " + variable.why + "\n";
    int64_t moved = variable.bytes, traffic = 0;
    for (const PlannedVariable &state : plan.variables)
      if (isStateOf(state, variable)) {
        text +=
            "  with it: " + state.name + ", " + bytesText(static_cast<double>(state.bytes)) + "\n";
        moved += state.bytes;
      }
    for (const PlannedEdge &edge : plan.edges)
      if (edge.subject == variable.name) {
        text += "  " + edge.what + ": " + edgeBytes(edge) + " from " + edge.from + " to " +
                edge.to + (edge.rate == EdgeRate::Outside ? ", not in a step" : ", each step") +
                " (" + shortPlace(edge.place) + ")\n";
        traffic += edge.rate == EdgeRate::Outside ? 0 : edge.bytes * edge.messages;
      }
    for (const PlannedRole &role : plan.roles)
      if (role.name.starts_with("server") && role.name != variable.home)
        text += absl::StrFormat(
            "  on %s instead: %s would keep %s of variables (now %s), %s %s (now %s); %s a step "
            "would go there\n",
            role.name, role.name, bytesText(static_cast<double>(held[role.name] + moved)),
            bytesText(static_cast<double>(held[role.name])), variable.home,
            bytesText(static_cast<double>(held[variable.home] - moved)),
            bytesText(static_cast<double>(held[variable.home])),
            bytesText(static_cast<double>(traffic)));
  }
  return text;
}

//===- Two clusters --------------------------------------------------------===//

std::string planDifference(const Plan &before, const Plan &after) {
  std::string text;
  std::map<std::string, std::string> homes;
  for (const PlannedVariable &variable : before.variables)
    homes[variable.name] = variable.home;
  Table moved({"variable", "home", "with the other"}, {false, false, false});
  for (const PlannedVariable &variable : after.variables) {
    auto home = homes.find(variable.name);
    if (home == homes.end())
      moved.add({variable.name, "-", variable.home});
    else if (home->second != variable.home)
      moved.add({variable.name, home->second, variable.home});
    if (home != homes.end())
      homes.erase(home);
  }
  for (const auto &[name, home] : homes)
    moved.add({name, home, "-"});
  text += "variables\n" + (moved.empty() ? "  the same homes\n" : moved.str());
  Table roles({"process", "in all", "with the other", "sent a step", "with the other"},
              {false, true, true, true, true});
  std::map<std::string, std::pair<const PlannedRole *, const PlannedRole *>> both;
  for (const PlannedRole &role : before.roles)
    both[role.name].first = &role;
  for (const PlannedRole &role : after.roles)
    both[role.name].second = &role;
  auto bytes = [](const PlannedRole *role, bool isSent) {
    return role ? bytesText(static_cast<double>(isSent ? role->sent : role->memory.total()))
                : std::string("-");
  };
  for (const auto &[name, pair] : both)
    roles.add({name, bytes(pair.first, false), bytes(pair.second, false), bytes(pair.first, true),
               bytes(pair.second, true)});
  return text + "\nprocesses\n" + roles.str();
}

} // namespace pdg

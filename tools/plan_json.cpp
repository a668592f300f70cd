// Plans as JSON, for programs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include <nlohmann/json.hpp>

namespace pdg {

using Json = nlohmann::ordered_json;

static Json edgeJson(const PlannedEdge &edge) {
  static constexpr const char *rates[] = {"step", "inner", "outside"};
  Json json = {{"what", edge.what},
               {"subject", edge.subject},
               {"from", edge.from},
               {"to", edge.to},
               {"rate", rates[static_cast<int>(edge.rate)]},
               {"bytes", edge.bytes},
               {"exact", !edge.isBound && !edge.isUnbounded},
               {"messages", edge.messages},
               {"conditional", edge.isConditional},
               {"place", edge.place}};
  if (edge.group >= 0)
    json["group"] = edge.group;
  return json;
}

static Json roleJson(const PlannedRole &role) {
  return {{"role", role.name},
          {"processes", role.processes},
          {"variables", role.memory.variables},
          {"values", role.memory.values},
          {"messages", role.memory.messages},
          {"total", role.memory.total()},
          {"limit", role.limit},
          {"sent_per_step", role.sent},
          {"received_per_step", role.received},
          {"messages_per_step", role.messages}};
}

static Json simulationJson(const Simulation &simulation) {
  Json json = {{"step_seconds", simulation.step},       {"computing_seconds", simulation.computing},
               {"waiting_seconds", simulation.waiting}, {"waits", Json::array()},
               {"busiest", simulation.busiest},         {"busiest_share", simulation.busiestShare}};
  for (const auto &[edge, seconds] : simulation.waits)
    json["waits"].push_back({{"edge", edge}, {"seconds", seconds}});
  return json;
}

std::string planJson(const Plan &plan, const Simulation *simulation) {
  Json json = {{"trainers", plan.cluster.trainers.count},
               {"servers", plan.cluster.servers.count},
               {"mode", plan.cluster.mode.str()},
               {"step", plan.step}};
  json["sources"] = Json::array();
  for (const PlannedSource &source : plan.sources) {
    bool isFixed = plan.cluster.mode.isSynchronous();
    json["sources"].push_back({{"name", source.name},
                               {"batch", source.batch},
                               {"leaves", source.leaves},
                               {"bits", !isFixed         ? "none"
                                        : source.isPlain ? "plain"
                                                         : "replicas"},
                               {"place", source.place}});
  }
  json["variables"] = Json::array();
  for (const PlannedVariable &variable : plan.variables)
    json["variables"].push_back({{"name", variable.name},
                                 {"type", variable.type},
                                 {"bytes", variable.bytes},
                                 {"home", variable.home},
                                 {"why", variable.why},
                                 {"place", variable.place}});
  json["edges"] = Json::array();
  for (const PlannedEdge &edge : plan.edges)
    json["edges"].push_back(edgeJson(edge));
  json["roles"] = Json::array();
  for (const PlannedRole &role : plan.roles)
    json["roles"].push_back(roleJson(role));
  if (simulation)
    json["simulation"] = simulationJson(*simulation);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace pdg

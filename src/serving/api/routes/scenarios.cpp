// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

AnswerJson scenario_json(const std::string& name, const ScenarioEntry& entry) {
  AnswerJson options = AnswerJson::array();
  for (const Option& option : entry.options()) {
    options.push_back({{"name", option.name},
                       {"type", option.type},
                       {"default", option.initial},
                       {"range", option.range},
                       {"help", option.help}});
  }
  return {{"name", name}, {"summary", entry.summary()}, {"options", std::move(options)}};
}

}  // namespace

void register_scenarios(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/scenarios", {.summary = "arrival patterns of queries",
                                     .role = ServingRole::view,
                                     .answer = [](const HttpRequest& request, ServingContext&) {
                                       detail::expect_query(request, {"limit", "cursor"});
                                       return detail::page_of(
                                           scenarios().entries(), request, [](const auto& one) {
                                             return scenario_json(one.name, one.entry);
                                           });
                                     }});
}

}  // namespace d5::route

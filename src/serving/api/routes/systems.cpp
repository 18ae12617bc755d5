// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/system_manifest.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/catalogue.hpp"

namespace d5::route {
namespace {

detail::AnswerJson system_json(const FoundManifest<SystemManifest>& found) {
  const SystemManifest& system = found.manifest;
  detail::AnswerJson json = detail::entry_json(found);
  json["architecture"] = system.architecture;
  json["cores"] = system.cores;
  json["memory_bytes"] = system.memory_bytes;
  json["device"] = system.device;
  json["price_per_hour"] = system.price_per_hour;
  json["currency"] = system.currency;
  return json;
}

}  // namespace

void register_systems(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/systems", {.summary = "kinds of machines that evaluations require",
                                   .role = ServingRole::view,
                                   .answer = detail::list_answer(system_json)});
}

}  // namespace d5::route

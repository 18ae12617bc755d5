// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/evaluation/manifest/framework_manifest.hpp"
#include "d5/level0_ops/operator/operator_support.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/jobs/job_queue.hpp"
#include "serving/api/catalogue.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

/// Frameworks here that have operators, by the tests' results: none is loaded.
std::set<std::string> frameworks_with_operators() {
  std::set<std::string> here = {"reference"}, with;  // d5's own is known once something uses it
  for (const auto& info : frameworks()) here.insert(info.name);
  for (const auto& row : operator_support()) {
    if (here.contains(row.framework)) with.insert(row.framework);
  }
  return with;
}

/// What an evaluation may name to run models: manifests, the words of agents with their versions,
/// and frameworks that are known here.
AnswerJson known_frameworks(ServingContext& context) {
  AnswerJson items = AnswerJson::array();
  for (const auto& found : detail::carried<FrameworkManifest>()) {
    items.push_back(detail::entry_json(found));
    items.back()["word"] = found.manifest.word;
  }
  std::map<std::string, std::set<std::string>> versions;
  for (const std::string& name : frameworks_with_operators()) versions[name];
  for (const auto& agent : context.jobs().agents()) {
    for (const auto& [name, framework] : agent.facts.frameworks) {
      for (const std::string& word : framework.words) versions[word].insert(framework.version);
    }
  }
  for (const auto& [name, found] : versions) {
    items.push_back({{"name", name}, {"word", name}, {"versions", found}});
  }
  return items;
}

}  // namespace

void register_frameworks(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/frameworks",
               {.summary = "frameworks that models are evaluated in",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {"limit", "cursor"});
                  return detail::page_of(known_frameworks(context), request,
                                         [](const AnswerJson& one) { return one; });
                }});
}

}  // namespace d5::route

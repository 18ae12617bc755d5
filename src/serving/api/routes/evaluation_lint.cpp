// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

/// Judges the manifest as a fetched one. Text that is not YAML has one fault.
HttpResponse answer_lint(const HttpRequest& request, ServingContext&) {
  detail::expect_query(request, {});
  const AnswerJson body = detail::asked_object(request);
  detail::expect_members(body, {"yaml"});
  if (!body.contains("yaml")) throw FormatError("'yaml' is missing: expected a manifest as a text");
  const std::string text = detail::text_member(body, "yaml");
  AnswerJson items = AnswerJson::array();
  try {
    for (const auto& fault : lint_manifest(text, "manifest", ManifestOrigin::fetched)) {
      items.push_back({{"line", fault.line}, {"column", fault.column}, {"text", fault.what}});
    }
  } catch (const FormatError& error) {
    items.push_back({{"line", 1}, {"column", 1}, {"text", error.what()}});
  }
  return detail::page_answer(std::move(items), "");
}

}  // namespace

void register_evaluation_lint(Registry<RouteEntry>& registry) {
  registry.add("POST /v1/evaluations/lint", {.summary = "faults of a manifest, with their places",
                                             .role = ServingRole::view,
                                             .answer = answer_lint});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/core/entries/registry.hpp"
#include "d5/serving/http/http_message.hpp"

namespace d5 {

class ServingContext;  // d5/serving/api/serving_context.hpp

/// One thing that a server answers. Its name in the registry is its method and its path, whose
/// parts in braces stand for any text without "/": "GET /v1/jobs/{id}". A last part "{name...}"
/// stands for all the rest.
///
///     void register_health(Registry<RouteEntry>& registry) {
///       registry.add("GET /v1/health", {.summary = "whether the server is up",
///                                       .role = ServingRole::anyone,
///                                       .answer = [](const HttpRequest&, ServingContext&) {
///                                         return HttpResponse::json(R"({"status": "up"})");
///                                       }});
///     }
///
/// Thread safety: `answer` is called by several threads at once. What it throws becomes a problem
/// (`http_problem_of`).
struct RouteEntry {
  std::string summary;
  ServingRole role = ServingRole::view;  ///< that whoever asks must have
  std::function<HttpResponse(const HttpRequest&, ServingContext&)> answer;
};

/// By method and path; src/serving/api/routes and src/serving/inference/routes have the built-in
/// ones, one file each.
[[nodiscard]] Registry<RouteEntry>& routes();

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "d5/core/entries/registry.hpp"
#include "d5/serving/http/http_message.hpp"

namespace d5 {

class ServingContext;  // d5/serving/api/serving_context.hpp

/// One request that a server answers. Its name in the registry is its method and path; parts in
/// braces match any text without "/": "GET /v1/jobs/{id}". A last part "{name...}" matches the rest
/// of the path.
///
///     void register_health(Registry<RouteEntry>& registry) {
///       registry.add("GET /v1/health", {.summary = "whether the server is up",
///                                       .role = ServingRole::anyone,
///                                       .answer = [](const HttpRequest&, ServingContext&) {
///                                         return HttpResponse::json(R"({"status": "up"})");
///                                       }});
///     }
///
/// Thread safety: `answer` is called by several threads at once. Its exceptions become problems
/// (`http_problem_of`).
struct RouteEntry {
  std::string summary;
  ServingRole role = ServingRole::view;  ///< minimum role of the caller
  std::function<HttpResponse(const HttpRequest&, ServingContext&)> answer;
  /// The largest body in bytes, if it is not the server's, which is the third argument. Called as
  /// `HttpHandler::most_body_bytes`.
  std::function<std::size_t(const HttpRequest&, ServingContext&, std::size_t)> most_body_bytes = {};
};

/// All routes by method and path. The built-in ones are in src/serving/api/routes and
/// src/serving/inference/routes, one file each.
[[nodiscard]] Registry<RouteEntry>& routes();

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/serving/access_tokens.hpp"
#include "d5/serving/http_server.hpp"
#include "d5/serving/route.hpp"

namespace d5::detail {

/// Finds the route of each request, and asks whether whoever sent it may.
class Router final : public HttpHandler {
 public:
  /// Without tokens everyone may do everything. Throws: ValueError for routes whose names are none.
  Router(ServingContext& context, std::optional<std::string> token_file);

  [[nodiscard]] std::optional<HttpResponse> refuse(HttpRequest& head) override;
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) override;

 private:
  struct Path {
    std::vector<std::string> segments;
    std::vector<std::pair<std::string, const RouteEntry*>> methods;
  };
  [[nodiscard]] const Path* find(const HttpRequest& request) const;
  [[nodiscard]] std::optional<HttpResponse> refuse_role(HttpRequest& head,
                                                        const RouteEntry& route) const;

  ServingContext& context_;
  std::optional<AccessTokens> tokens_;
  std::vector<Path> paths_;  ///< the most exact first
};

/// Whether a route's path has the form of a request's; its parts in braces go to `parameters`.
[[nodiscard]] bool matches(const std::vector<std::string>& route,
                           const std::vector<std::string>& request,
                           std::map<std::string, std::string>& parameters);

}  // namespace d5::detail

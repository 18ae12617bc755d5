// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/serving/api/access_tokens.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/http/http_server.hpp"
#include "serving/api/safe_place.hpp"
#include "serving/generators/completion_fault.hpp"

namespace d5::detail {
namespace {

/// Finds the route of each request, and checks that its sender may use it.
class Router final : public HttpHandler {
 public:
  /// Without tokens everyone may do everything. Throws: ValueError for routes with invalid names.
  Router(ServingContext& context, std::optional<std::string> token_file);

  [[nodiscard]] std::optional<HttpResponse> refuse(HttpRequest& head) override;
  [[nodiscard]] std::size_t most_body_bytes(const HttpRequest& head, std::size_t usual) override;
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) override;
  /// Below /v2 an error is the Open Inference Protocol's: {"error": "..."}; of completions it is
  /// OpenAI's: {"error": {...}}. Neither has a 422.
  [[nodiscard]] HttpResponse error_form(const HttpRequest& head, HttpResponse problem) override;

 private:
  struct Path {
    std::vector<std::string> segments;
    std::vector<std::pair<std::string, const RouteEntry*>> methods;
  };
  [[nodiscard]] const Path* find(const HttpRequest& request) const;
  /// The route of a request; null if there is none.
  [[nodiscard]] const RouteEntry* route_of(const HttpRequest& request) const;
  [[nodiscard]] std::optional<HttpResponse> refuse_role(HttpRequest& head,
                                                        const RouteEntry& route) const;

  ServingContext& context_;
  std::optional<AccessTokens> tokens_;
  std::vector<Path> paths_;  ///< the most specific first
};

bool is_any(const std::string& segment) { return segment.starts_with('{'); }
bool is_rest(const std::string& segment) { return segment.ends_with("...}"); }

/// "id" of "{id}", "file" of "{file...}"
std::string name_in(const std::string& segment) {
  constexpr std::size_t kDots = 3;
  return segment.substr(1, segment.size() - 2 - (is_rest(segment) ? kDots : 0));
}

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  std::size_t begin = 1;
  for (;;) {
    const std::size_t end = path.find('/', begin);
    segments.push_back(path.substr(begin, end - begin));
    if (end == path.npos) return segments;
    begin = end + 1;
  }
}

/// Literal parts come before parameters, and both before a part that matches the rest.
bool is_more_exact(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto rank = [](const std::string& segment) {
    return is_rest(segment) ? 2 : is_any(segment) ? 1 : 0;
  };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

/// The method that answers a request: a HEAD is a GET whose body is not sent.
std::string method_of(const HttpRequest& request) {
  return request.method == "HEAD" ? "GET" : request.method;
}

using Methods = std::vector<std::pair<std::string, const RouteEntry*>>;

HttpResponse not_allowed(const Methods& methods) {
  std::string allowed;
  for (const auto& [method, route] : methods) {
    allowed += (allowed.empty() ? "" : ", ") + method;
    if (method == "GET") allowed += ", HEAD";
  }
  auto answer = HttpResponse::problem(405, "this address takes " + allowed);
  answer.headers.add("Allow", allowed);
  return answer;
}

/// Whether a browser sends the request for another server's page, which its Origin header shows.
bool comes_from_elsewhere(const HttpRequest& head) {
  const std::string* origin = head.headers.find("origin");
  if (!origin) return false;
  const std::string host = head.headers.at("host");
  return *origin != "http://" + host && *origin != "https://" + host;
}

/// Whether a route's path matches a request's; parts in braces go to `parameters`.
bool matches(const std::vector<std::string>& route, const std::vector<std::string>& request,
             std::map<std::string, std::string>& parameters) {
  std::map<std::string, std::string> found;
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (i >= request.size()) return false;
    if (is_rest(route[i])) {
      std::string rest = request[i];
      for (std::size_t j = i + 1; j < request.size(); ++j) rest += "/" + request[j];
      found[name_in(route[i])] = rest;
      parameters = std::move(found);
      return true;
    }
    if (is_any(route[i])) {
      if (request[i].empty()) return false;
      found[name_in(route[i])] = request[i];
    } else if (route[i] != request[i]) {
      return false;
    }
  }
  if (route.size() != request.size()) return false;
  parameters = std::move(found);
  return true;
}

Router::Router(ServingContext& context, std::optional<std::string> token_file) : context_(context) {
  if (token_file) tokens_.emplace(*token_file);
  for (const auto& [name, entry] : routes().entries()) {
    const std::size_t space = name.find(" /");
    if (space == name.npos) {
      throw ValueError(fmt::format("route '{}': expected METHOD /PATH", printable(name)));
    }
    const auto segments = segments_of(name.substr(space + 1));
    auto path = std::ranges::find(paths_, segments, &Path::segments);
    if (path == paths_.end()) path = paths_.insert(path, Path{segments, {}});
    path->methods.emplace_back(name.substr(0, space), &entry);
  }
  std::ranges::stable_sort(paths_, is_more_exact, &Path::segments);
}

const Router::Path* Router::find(const HttpRequest& request) const {
  std::map<std::string, std::string> ignored;
  const auto found = std::ranges::find_if(
      paths_, [&](const Path& path) { return matches(path.segments, request.segments, ignored); });
  return found == paths_.end() ? nullptr : &*found;
}

std::optional<HttpResponse> Router::refuse_role(HttpRequest& head, const RouteEntry& route) const {
  if (!tokens_) {
    head.role = ServingRole::admin;
    return {};
  }
  const auto token = tokens_->told(head.headers.at("authorization"));
  head.role = token ? token->role : ServingRole::anyone;
  head.caller = token ? token->name : "";
  if (head.role >= route.role) return {};
  if (token) {
    return HttpResponse::problem(
        403, fmt::format("this takes a token with the role {}; yours is {}", name_of(route.role),
                         name_of(token->role)));
  }
  auto answer = HttpResponse::problem(
      401, "this takes a token: 'Authorization: Bearer TOKEN'; 'd5 token add' makes one");
  answer.headers.add("WWW-Authenticate", "Bearer");
  return answer;
}

std::optional<HttpResponse> Router::refuse(HttpRequest& head) {
  const Path* path = find(head);
  const std::string method = method_of(head);
  const bool is_page = path && is_rest(path->segments.back());
  if (!path || (is_page && method != "GET")) {
    return HttpResponse::problem(404, fmt::format("there is no '{}' here", printable(head.path)));
  }
  const auto route = std::ranges::find(
      path->methods, method, [](const auto& one) -> const std::string& { return one.first; });
  if (route == path->methods.end()) return not_allowed(path->methods);
  if (comes_from_elsewhere(head)) {
    return HttpResponse::problem(403, "a page of another server may not ask this one");
  }
  (void)matches(path->segments, head.segments, head.parameters);
  return refuse_role(head, *route->second);
}

const RouteEntry* Router::route_of(const HttpRequest& request) const {
  const Path* path = find(request);
  const std::string method = method_of(request);
  for (const auto& [name, route] : path ? path->methods : Methods()) {
    if (name == method) return route;
  }
  return nullptr;
}

std::size_t Router::most_body_bytes(const HttpRequest& head, std::size_t usual) {
  const RouteEntry* route = route_of(head);
  return route && route->most_body_bytes ? route->most_body_bytes(head, context_, usual) : usual;
}

HttpResponse Router::answer(const HttpRequest& request) {
  const RouteEntry* route = route_of(request);
  if (!route) return HttpResponse::problem(404, "there is nothing here");
  try {
    return route->answer(request, context_);
  } catch (const NotFound& error) {  // a name in the body or the query is unknown, not the path
    return HttpResponse::problem(request.parameters.empty() ? 422 : 404, error.what());
  }
}

HttpResponse Router::error_form(const HttpRequest& head, HttpResponse problem) {
  using nlohmann::json;
  if (head.path == "/v1/completions" || head.path == "/v1/chat/completions") {
    return openai_error_of_problem(std::move(problem));
  }
  if (head.path != "/v2" && !head.path.starts_with("/v2/")) return problem;
  const json told = json::parse(problem.body, nullptr, /*allow_exceptions=*/false);
  if (!told.is_object() || !told.contains("detail")) return problem;
  const int status = problem.status == 422 ? 400 : problem.status;
  HttpResponse error = HttpResponse::json(json{{"error", told["detail"]}}.dump(), status);
  for (const auto& [name, value] : problem.headers.lines()) {
    if (name != "Content-Type") error.headers.add(name, value);
  }
  return error;
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

ServerOptions checked(ServerOptions options) {
  detail::expect_safe_place(options.http.host, options.tokens.has_value(), options.http.certificate,
                            options.http.key);
  return options;
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(checked(std::move(options))),
      context_(options_.database),
      router_(std::make_unique<detail::Router>(context_, options_.tokens)) {
  if (!options_.models.empty()) {
    context_.keep_models(options_.models, options_.most_model_bytes);
  }
}

Server::~Server() { stop(); }

void Server::begin() {
  if (!http_) http_ = std::make_unique<HttpServer>(*router_, options_.http);
}

std::string Server::address() const { return http_ ? http_->address() : ""; }
int Server::port() const { return http_ ? http_->port() : 0; }

void Server::stop() {
  if (http_) http_->stop();
}

}  // namespace d5

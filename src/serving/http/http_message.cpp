// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/http/http_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "serving/http/http_connection.hpp"

namespace d5 {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"anyone", "view", "run", "admin"};

}  // namespace

std::string_view name_of(ServingRole role) { return kRoles.at(std::size_t(role)); }

ServingRole serving_role(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name);
  if (found == kRoles.end()) throw_unknown_name("role", name, {kRoles.begin(), kRoles.end()});
  return ServingRole(found - kRoles.begin());
}

void HttpHeaders::add(std::string name, std::string value) {
  lines_.emplace_back(std::move(name), std::move(value));
}

const std::string* HttpHeaders::find(std::string_view name) const {
  const auto found = std::ranges::find_if(lines_, [&](const Line& line) {
    return std::ranges::equal(line.first, name, {}, detail::small_letter, detail::small_letter);
  });
  return found == lines_.end() ? nullptr : &found->second;
}

std::string HttpHeaders::at(std::string_view name) const {
  const std::string* value = find(name);
  return value ? *value : std::string();
}

std::string HttpRequest::asked(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

const std::string& HttpRequest::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  if (found == parameters.end()) {
    throw NotFound(fmt::format("the route of '{}' has no part '{}'", printable(path), name));
  }
  return found->second;
}

HttpResponse HttpResponse::json(std::string text, int status) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(text)};
}

HttpResponse HttpResponse::problem(int status, std::string_view detail) {
  const nlohmann::ordered_json body{{"type", "about:blank"},
                                    {"title", http_reason(status)},
                                    {"status", status},
                                    {"detail", detail}};
  using Bad = nlohmann::ordered_json::error_handler_t;
  return {.status = status,
          .headers = {{"Content-Type", "application/problem+json"}},
          .body = body.dump(-1, ' ', false, Bad::replace)};
}

std::string_view http_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

int http_status_of(const std::exception& error) {
  if (dynamic_cast<const NotFound*>(&error)) return 404;
  if (dynamic_cast<const Unsupported*>(&error)) return 501;
  if (dynamic_cast<const Interrupted*>(&error)) return 503;
  if (dynamic_cast<const CommunicationError*>(&error)) return 503;
  const bool was_asked_wrongly =
      dynamic_cast<const ValueError*>(&error) || dynamic_cast<const FormatError*>(&error) ||
      dynamic_cast<const TypeError*>(&error) || dynamic_cast<const ShapeError*>(&error);
  return was_asked_wrongly ? 422 : 500;
}

HttpResponse http_problem_of(const std::exception& error) {
  return HttpResponse::problem(http_status_of(error), error.what());
}

}  // namespace d5

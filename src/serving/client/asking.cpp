// SPDX-License-Identifier: Apache-2.0
#include "serving/client/asking.hpp"

#include <fmt/format.h>

#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/client/job_reader.hpp"

namespace d5::detail {

using nlohmann::json;

void throw_problem(int status, const std::string& body) {
  const json problem = json::parse(body, nullptr, false);
  std::string detail = fmt::format("status {}", status);
  if (problem.is_object() && problem.contains("detail") && problem["detail"].is_string()) {
    detail = problem["detail"].get<std::string>();
  }
  const std::string text = "the server says: " + printable_message(detail);
  constexpr int kNotFound = 404, kNotImplemented = 501, kServer = 500;
  if (status == kNotFound) throw NotFound(text);
  if (status == kNotImplemented) throw Unsupported(text);
  if (status >= kServer) throw IoError(text);
  throw ValueError(text);
}

HttpCall Asking::call_to(const std::string& method, const std::string& path,
                         const std::string& body) const {
  HttpCall call{.method = method,
                .url = address_ + path,
                .body = body,
                .certificates = options_.certificates,
                .interrupt = options_.interrupt};
  if (!body.empty()) call.headers.emplace_back("Content-Type: application/json");
  if (!options_.token.empty()) call.headers.push_back("Authorization: Bearer " + options_.token);
  return call;
}

CallAnswer Asking::any_answer(const HttpCall& call) const {
  auto found = detail::call(call);
  constexpr int kRefused = 300;
  if (found.status >= kRefused || found.reason.empty()) return found;  // a refusal may break off
  const char* way_out = found.is_distrusted
                            ? "name the certificates (PEM) of its authority in $D5_CA"
                            : "is 'd5 serve' running there?";
  throw IoError(
      fmt::format("'{}' does not answer: {}; {}", printable(address_), found.reason, way_out));
}

CallAnswer Asking::answer(const HttpCall& call) const {
  auto found = any_answer(call);
  constexpr int kRefused = 300;
  if (found.status >= kRefused) throw_problem(found.status, found.body);
  return found;
}

json Asking::items(const std::string& path) const {
  json all = json::array();
  for (std::string cursor;;) {
    const std::string mark = path.find('?') == path.npos ? "?" : "&";
    cursor = got(path + (cursor.empty() ? "" : mark + "cursor=" + percent_encoded(cursor)),
                 [&](const json& page) {
                   for (const auto& item : page.at("items")) all.push_back(item);
                   return page.at("next").is_null() ? "" : page.at("next").get<std::string>();
                 });
    if (cursor.empty()) return all;
  }
}

SubmittedJob Asking::submitted(const std::string& path, const std::string& body) const {
  const auto found = answer(call_to("POST", path, body));
  constexpr int kCreated = 201;
  return {.job = understood(found.body, job_of), .was_there = found.status != kCreated};
}

void Asking::expect_shallow(const std::string& body) const {
  expect_shallow_json(body, "the answer of '" + printable(address_) + "'");
}

void Asking::throw_strange(const char* why) const {
  throw IoError(
      fmt::format("'{}' answers as no server of this d5 does: {}", printable(address_), why));
}

}  // namespace d5::detail

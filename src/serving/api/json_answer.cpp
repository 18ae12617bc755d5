// SPDX-License-Identifier: Apache-2.0
#include "serving/api/json_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers/whole_number.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Throws: ValueError for a name that is not in `known`, with the nearest.
void expect_known(const char* kind, const std::string& name,
                  const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  try {
    throw_unknown_name(kind, name, known);
  } catch (const NotFound& error) {  // the request is wrong, not its address
    throw ValueError(error.what());
  }
}

}  // namespace

HttpResponse json_answer(const AnswerJson& body, int status) {
  return HttpResponse::json(body.dump(-1, ' ', false, AnswerJson::error_handler_t::replace),
                            status);
}

AnswerJson finite(double value) {
  return std::isfinite(value) ? AnswerJson(value) : AnswerJson(nullptr);
}

AnswerJson asked_object(const HttpRequest& request) {
  expect_shallow_json(request.body, "the body");
  AnswerJson body = AnswerJson::parse(request.body, nullptr, false);
  if (body.is_discarded() || !body.is_object()) {
    throw FormatError("the body is no JSON object: expected {\"name\": value, ...} in UTF-8");
  }
  return body;
}

void expect_members(const AnswerJson& object, const std::vector<std::string>& known) {
  for (const auto& [name, value] : object.items()) expect_known("member", name, known);
}

std::string text_member(const AnswerJson& object, const std::string& name,
                        const std::string& usual) {
  const auto found = object.find(name);
  if (found == object.end()) return usual;
  if (!found->is_string()) throw FormatError(fmt::format("'{}': expected a text", name));
  return found->get<std::string>();
}

std::size_t asked_number(const HttpRequest& request, const std::string& name, std::size_t usual,
                         std::size_t least, std::size_t most) {
  const std::string text = request.asked(name);
  if (text.empty()) return usual;
  const auto value = whole_number<std::size_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw ValueError(fmt::format("{}={}: expected a whole number from {} to {}", name,
                               printable(text), least, most));
}

void expect_query(const HttpRequest& request, const std::vector<std::string>& known) {
  for (const auto& [name, value] : request.query) expect_known("query", name, known);
}

AskedPage asked_page(const HttpRequest& request, std::size_t usual, std::size_t most) {
  return {asked_number(request, "limit", usual, 1, most), request.asked("cursor")};
}

HttpResponse page_answer(AnswerJson items, const std::string& next) {
  AnswerJson page{{"items", std::move(items)}, {"next", nullptr}};
  if (!next.empty()) page["next"] = next;
  return json_answer(page);
}

}  // namespace d5::detail

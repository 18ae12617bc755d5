// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "d5/serving/http/http_message.hpp"

namespace d5::detail {

using AnswerJson = nlohmann::ordered_json;

/// Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] HttpResponse json_answer(const AnswerJson& body, int status = 200);

/// A number, or null if JSON cannot express it.
[[nodiscard]] AnswerJson finite(double value);

/// The body of a request as an object. Throws: FormatError for anything else.
[[nodiscard]] AnswerJson asked_object(const HttpRequest& request);
/// Throws: ValueError for a member that is not in `known`, with the nearest.
void expect_members(const AnswerJson& object, const std::vector<std::string>& known);
/// A text of an object, or `usual` if it is missing. Throws: FormatError for another type.
[[nodiscard]] std::string text_member(const AnswerJson& object, const std::string& name,
                                      const std::string& usual = {});

/// A whole number from the address. Throws: ValueError for other text, or out of range.
[[nodiscard]] std::size_t asked_number(const HttpRequest& request, const std::string& name,
                                       std::size_t usual, std::size_t least, std::size_t most);
/// Throws: ValueError for parameters that the route does not know, with the nearest.
void expect_query(const HttpRequest& request, const std::vector<std::string>& known);

/// The page of `?limit=` and `?cursor=`.
struct AskedPage {
  std::size_t limit;
  std::string cursor;
};
[[nodiscard]] AskedPage asked_page(const HttpRequest& request, std::size_t usual = 50,
                                   std::size_t most = 1000);
/// {"items": [...], "next": "..." or null}
[[nodiscard]] HttpResponse page_answer(AnswerJson items, const std::string& next);

/// A page that the database cut (`StoredPage`).
template <class Stored, class ToJson>
[[nodiscard]] HttpResponse stored_page(const Stored& page, const ToJson& to_json) {
  AnswerJson list = AnswerJson::array();
  for (const auto& item : page.items) list.push_back(to_json(item));
  return page_answer(std::move(list), page.next);
}

/// A page of a list in memory: its cursor is the number of the next item.
template <class Items, class ToJson>
[[nodiscard]] HttpResponse page_of(const Items& items, const HttpRequest& request,
                                   const ToJson& to_json, std::size_t usual = 50,
                                   std::size_t most = 1000) {
  const AskedPage page = asked_page(request, usual, most);
  const std::size_t begin =
      page.cursor.empty() ? 0 : asked_number(request, "cursor", 0, 0, std::size(items));
  const std::size_t end = begin + std::min(page.limit, std::size(items) - begin);
  AnswerJson list = AnswerJson::array();
  for (std::size_t i = begin; i < end; ++i) list.push_back(to_json(items[i]));
  return page_answer(std::move(list), end < std::size(items) ? std::to_string(end) : "");
}

}  // namespace d5::detail

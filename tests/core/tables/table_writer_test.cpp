// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tables/table_writer.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// The pieces that a writer writes for some rows, two of which are laid out together.
std::vector<std::string> pieces_of(const std::vector<std::vector<std::string>>& rows,
                                   Format format) {
  std::vector<std::string> pieces;
  TableWriter writer({"name", {"n", TextTable::Align::right}}, format,
                     [&](std::string_view text) { pieces.emplace_back(text); },
                     {.rows_at_once = 2});
  for (const auto& row : rows) writer.add(row);
  writer.end();
  return pieces;
}

std::string text_of(const std::vector<std::vector<std::string>>& rows, Format format) {
  std::string text;
  for (const auto& piece : pieces_of(rows, format)) text += piece;
  return text;
}

TEST_CASE("a table is written while its rows come") {
  const std::vector<std::vector<std::string>> rows = {{"a", "1"}, {"b, c", "2"}, {"d", "3"}};
  CHECK(pieces_of(rows, Format::csv) ==
        std::vector<std::string>{"name,n\r\na,1\r\n\"b, c\",2\r\n", "d,3\r\n"});
  CHECK(pieces_of(rows, Format::jsonl).front() ==
        "{\"name\":\"a\",\"n\":\"1\"}\n{\"name\":\"b, c\",\"n\":\"2\"}\n");
  CHECK(text_of(rows, Format::markdown) ==
        "| name | n |\n| --- | --- |\n| a | 1 |\n| b, c | 2 |\n| d | 3 |\n");
  CHECK_THROWS_AS(text_of(rows, Format::svg), ValueError);
}

TEST_CASE("a list of JSON that is written in pieces is laid out as a whole one") {
  using Json = nlohmann::ordered_json;
  for (const std::size_t count : {0, 1, 2, 5}) {
    std::vector<std::vector<std::string>> rows;
    Json list = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back({"a \"{\n" + std::to_string(i), "1"});
      list.push_back({{"name", printable_message(rows.back()[0])}, {"n", "1"}});
    }
    CHECK(text_of(rows, Format::json) == list.dump(2) + "\n");
  }
}

TEST_CASE("a column grows with the rows that come later, and never shrinks") {
  CHECK(
      text_of({{"a", "1"}, {"b", "2"}, {"longer", "300"}, {"c", "4"}, {"d", "5"}}, Format::table) ==
      "name  n\n"
      "----  -\n"
      "a     1\n"
      "b     2\n"
      "longer  300\n"
      "c         4\n"
      "d         5\n");
}

}  // namespace
}  // namespace d5

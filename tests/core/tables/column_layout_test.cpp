// SPDX-License-Identifier: Apache-2.0
#include "core/tables/column_layout.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <sstream>

#include "d5/core/tensor/random.hpp"

namespace d5::detail {
namespace {

using enum TextTable::Align;

std::vector<std::string> physical_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Whether `word` stands in `text` with nothing but spaces around it.
bool stands_in(const std::string& word, const std::string& text) {
  const std::string spaced = ' ' + text + ' ';
  return spaced.find(' ' + word + ' ') != std::string::npos;
}

std::string drawn_word(RandomStream& random) {
  constexpr std::array<const char*, 10> kWords = {
      "onnxruntime:session", "test_accuracy", "1.13e-06",  "0.778266", "passed",
      "mistrusted [12]",     "Conv",          "resnet-18", "-3.5",     "time_to_accuracy",
  };
  return kWords[std::size_t(random.uniform() * float(kWords.size()))];
}

}  // namespace

TEST_CASE("a table is no wider than the terminal and breaks no number and no word") {
  RandomStream random(5, 0);
  for (int draw = 0; draw < 200; ++draw) {
    const auto columns = 1 + std::size_t(random.uniform() * 12), rows = std::size_t(4);
    std::vector<TextTable::Column> titles;
    for (std::size_t c = 0; c < columns; ++c) {
      titles.emplace_back(drawn_word(random), random.uniform() < 0.4F ? right : left);
    }
    std::vector<ColumnLayout::Row> cells(rows);
    for (auto& row : cells) {
      for (std::size_t c = 0; c < columns; ++c) {
        row.push_back(drawn_word(random));
        while (titles[c].align == left && random.uniform() < 0.5F) {
          row.back() += ' ' + drawn_word(random);
        }
      }
    }
    for (const int width : {40, 60, 80, 120}) {
      const ColumnLayout layout(titles, cells, width);
      std::string text = layout.header();
      for (const auto& row : cells) text += layout.row(row);
      CAPTURE(width, text);
      for (const auto& line : physical_lines(text)) {
        CHECK(character_count(line) <= std::size_t(width));
      }
      std::ranges::replace(text, '\n', ' ');
      for (const auto& row : cells) {
        for (const auto& cell : row) {
          std::istringstream words(cell);
          for (std::string word; words >> word;) CHECK(stands_in(word, text));
        }
      }
    }
  }
}

TEST_CASE("columns that have no room beside the others stand in the next line of a row") {
  const ColumnLayout layout({{"name"}, {"value", right}, {"interval", right}, {"status"}},
                            {{"onednn", "482 us", "[452, 505]", "passed"}}, 30);
  CHECK(layout.is_folded());
  CHECK(layout.header() ==
        "name     value    interval\n"
        "  status\n"
        "------  ------  ----------\n");
  CHECK(layout.row({"onednn", "482 us", "[452, 505]", "passed"}) ==
        "onednn  482 us  [452, 505]\n"
        "  passed\n");
  CHECK(layout.row({"torch", "1 ms", "", ""}) == "torch     1 ms\n");
}

TEST_CASE("numbers and statuses of later rows stay whole where the table has room beside it") {
  const std::vector<TextTable::Column> columns = {{"name"}, {"interval", right}, {"status"}};
  const std::vector<ColumnLayout::Row> first = {{"onednn", "[6.4, 8.1]", "mistrusted [1]"}};
  const ColumnLayout::Row later = {"torch", "[0.1103, 0.1114]", "mistrusted [1,2,3,6]"};
  const std::string whole = "torch   [0.1103, 0.1114]  mistrusted [1,2,3,6]\n";
  for (const int width : {0, 46, 120})
    CHECK(ColumnLayout(columns, first, width).row(later) == whole);
  for (const int width : {34, 40, 45}) {
    const std::string text = ColumnLayout(columns, first, width).row(later);
    CAPTURE(width, text);
    CHECK(physical_lines(text).size() > 1);
    for (const auto& line : physical_lines(text))
      CHECK(character_count(line) <= std::size_t(width));
  }
}

TEST_CASE("text is cut behind spaces and punctuation, and not in a number") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("error 1.13e-06 of y", 10) == Lines{"error", "1.13e-06", "of y"});
  CHECK(lines_of("0.5,0.25,0.125", 9) == Lines{"0.5,0.25,", "0.125"});
  CHECK(lines_of("64x1234x5", 6) == Lines{"64x", "1234x5"});
  CHECK(lines_of("1234567890123", 5) == Lines{"12345", "67890", "123"});
  CHECK(lines_of("\u00e4\u00f6\u00fc \u00e4\u00f6", 3) ==
        Lines{"\u00e4\u00f6\u00fc", "\u00e4\u00f6"});
  CHECK(first_characters("\u00e4\u00f6\u00fc", 2) == "\u00e4\u00f6");
  CHECK(first_characters("a", 2) == "a");
}

}  // namespace d5::detail

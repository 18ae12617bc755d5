// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::testing {

/// A line of a table, and where it stands: "activation.txt:3".
struct TableLine {
  std::string text, place;
};

/// The lines that are neither blank nor a comment (#). Throws: IoError.
inline std::vector<TableLine> table_lines(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) {
    throw IoError(fmt::format("cannot read the table '{}'; expected a file of lines",
                              printable(file.string())));
  }
  std::vector<TableLine> lines;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.empty() || text.front() == '#') continue;
    lines.push_back({text, fmt::format("{}:{}", file.filename().string(), number)});
  }
  return lines;
}

/// `WORD what: why` taken apart.
struct Exemption {
  std::string what, why;
};
/// Throws: FormatError for a line that is not so.
inline Exemption exemption(const TableLine& line) {
  const auto& text = line.text;
  const auto space = text.find(' '), colon = text.find(": ");
  if (colon == std::string::npos || space + 1 >= colon || colon + 2 == text.size()) {
    throw FormatError(fmt::format("{}: '{}', expected '{} WHAT: WHY'", line.place, printable(text),
                                  printable(text.substr(0, space))));
  }
  return {text.substr(space + 1, colon - space - 1), text.substr(colon + 2)};
}

/// "[domain.]Operator" of a case.
inline std::string operator_of(const std::string& line) {
  return line.substr(0, line.find_first_of(" @"));
}

/// An operator's row in the tables of gradients.
struct GradientRow {
  std::vector<std::string> cases;
  std::vector<std::string> in_float32;  ///< cases that write float32 whatever they read
  std::string none;                     ///< why it has no gradient
};

/// The tables of tests/level0_ops/gradients below `source`, by operator, files in the order of
/// their names. A line is a case, `float32` and a case that no check in float64 can judge, or
/// `none OPERATOR: why`.
/// Throws: IoError; FormatError with file and line for one that is neither, or that comes twice.
inline std::map<std::string, GradientRow> gradient_table(const std::filesystem::path& source) {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(source / "tests" / "level0_ops" / "gradients")) {
    files.push_back(file.path());
  }
  std::ranges::sort(files);
  std::map<std::string, GradientRow> table;
  std::map<std::string, std::string> places;  // by line
  for (const auto& file : files) {
    for (const TableLine& line : table_lines(file)) {
      const bool is_none = line.text.starts_with("none ");
      const std::string key = is_none ? "none " + exemption(line).what : line.text;
      if (const auto [place, fresh] = places.emplace(key, line.place); !fresh) {
        throw FormatError(fmt::format("{}: '{}' is in {} already, expected once", line.place,
                                      printable(key), place->second));
      }
      if (is_none) {
        const auto [what, why] = exemption(line);
        table[what].none = why;
      } else if (const std::string word = "float32 "; line.text.starts_with(word)) {
        const std::string one = line.text.substr(word.size());
        table[operator_of(one)].in_float32.push_back(one);
      } else {
        table[operator_of(line.text)].cases.push_back(line.text);
      }
    }
  }
  return table;
}

}  // namespace d5::testing

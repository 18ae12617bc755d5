// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"

namespace d5 {
namespace {

constexpr std::string_view kHead = "operator,opsets,types,gradient_types,passed,cases";

std::string words_of(const std::vector<DType>& types) {
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(name_of(type));
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<DType> types_of(const std::string& words) {
  std::vector<DType> types;
  std::istringstream in(words);
  for (std::string word; in >> word;) types.push_back(dtype_from_name(word));
  return types;
}

std::string opsets_of(const OperatorRegistry::Entry& entry) {
  if (entry.until == std::numeric_limits<int>::max()) return fmt::format("{}+", entry.since);
  return entry.since == entry.until ? fmt::format("{}", entry.since)
                                    : fmt::format("{}-{}", entry.since, entry.until);
}

std::vector<OperatorSupport> read_support(const std::filesystem::path& file) {
  return operator_support_from_csv(read_file(file.string()), file.stem().string(), file.string());
}

}  // namespace

std::string type_words(std::set<DType> types) {
  static const std::vector<std::pair<const char*, std::set<DType>>> kFamilies = {
      {"floats", {DType::float16, DType::bfloat16, DType::float32, DType::float64}},
      {"integers",
       {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
        DType::uint32, DType::uint64}},
      {"complex", {DType::complex64, DType::complex128}},
      {"float8",
       {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz}},
  };
  std::vector<std::string> words;
  for (const auto& [word, family] : kFamilies) {
    if (!std::ranges::includes(types, family)) continue;
    words.emplace_back(word);
    for (const DType one : family) types.erase(one);
  }
  int unknown = 0;
  for (const DType one : types) {
    if (int(one) < kDTypeCount) {
      words.emplace_back(name_of(one));
    } else {
      ++unknown;
    }
  }
  if (unknown > 0) words.push_back(fmt::format("{} that d5 lacks", unknown));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string to_csv(const std::vector<OperatorSupport>& rows) {
  std::string text = fmt::format("{}\n", kHead);
  for (const auto& row : rows) {
    text += fmt::format("{},{},{},{},{},{}\n", row.name, row.opsets, words_of(row.types),
                        words_of(row.gradient_types), row.passed, row.cases);
  }
  return text;
}

std::vector<OperatorSupport> operator_support_from_csv(const std::string& text,
                                                       const std::string& framework,
                                                       const std::string& source) {
  std::vector<OperatorSupport> rows;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto bad = [&](const std::string& what) {
      throw FormatError(
          fmt::format("{}:{}: {}; expected {}", printable(source), number, what, kHead));
    };
    if (number == 1) {
      if (line != kHead) bad("'" + printable(line) + "' is not the expected head");
      continue;
    }
    std::vector<std::string> cells;
    for (const auto part : std::views::split(line, ','))
      cells.emplace_back(part.begin(), part.end());
    if (cells.size() != 6) bad(fmt::format("{} cells", cells.size()));
    const auto count = [&](const std::string& cell) {
      int value = 0;
      const char* end = cell.data() + cell.size();
      const auto [stopped, error] = std::from_chars(cell.data(), end, value);
      if (error != std::errc() || stopped != end || value < 0)
        bad("'" + printable(cell) + "' is not a count");
      return value;
    };
    rows.push_back({.name = cells[0],
                    .framework = framework,
                    .opsets = cells[1],
                    .types = types_of(cells[2]),
                    .gradient_types = types_of(cells[3]),
                    .passed = count(cells[4]),
                    .cases = count(cells[5])});
  }
  return rows;
}

std::vector<OperatorSupport> operator_support() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(carried_file("data/operators"))) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<OperatorSupport> rows;
  for (const auto& file : files) std::ranges::move(read_support(file), std::back_inserter(rows));
  return rows;
}

std::vector<OperatorSupport> operator_support(const OperatorRegistry& registry) {
  std::map<std::string, OperatorSupport> rows;
  for (const auto& entry : registry.list()) {
    const std::string name = entry.domain.empty() ? entry.name : entry.domain + "." + entry.name;
    auto& row = rows[name];
    row.name = name;
    row.framework = registry.framework();
    row.opsets += (row.opsets.empty() ? "" : " ") + opsets_of(entry);
  }
  for (auto& known : operator_support()) {
    if (known.framework != registry.framework() || !rows.contains(known.name)) continue;
    known.opsets = rows[known.name].opsets;
    rows[known.name] = std::move(known);
  }
  std::vector<OperatorSupport> result;
  for (auto& [name, row] : rows) result.push_back(std::move(row));
  return result;
}

}  // namespace d5

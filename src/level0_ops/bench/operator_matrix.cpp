// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench/operator_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"

namespace d5 {
namespace {

std::string words_of(const std::vector<DType>& types, Format format) {
  if (is_for_people(format)) return type_words({types.begin(), types.end()});
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(name_of(type));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string cell_of(const OperatorSupport& row) {
  std::string cell = row.cases > 0 ? fmt::format("{}/{}", row.passed, row.cases) : "yes";
  if (!row.gradient_types.empty()) cell += " ∇";
  return cell;
}

}  // namespace

std::vector<OperatorSupport> supported_operators(const std::vector<std::string>& words) {
  std::vector<OperatorSupport> rows;
  std::set<std::string> loaded;
  const auto add_loaded = [&](const std::string& word) {
    Framework& one = framework(word);
    if (!loaded.insert(one.name()).second) return;
    std::ranges::move(operator_support(one.part<OperatorRegistry>()), std::back_inserter(rows));
  };
  std::set<std::string> found;
  if (words.empty()) add_loaded("reference");
  for (const auto& word : operator_words(words)) add_loaded(word);
  for (const auto& info : words.empty() ? frameworks() : std::vector<FrameworkInfo>()) {
    if (info.loaded) add_loaded(info.name);
    found.insert(info.name);
  }
  for (auto& known : operator_support()) {
    if (!found.contains(known.framework) || loaded.contains(known.framework)) continue;
    rows.push_back(std::move(known));
  }
  const auto own = operator_support(custom_operators());
  std::set<std::string> names;
  for (const auto& row : rows) names.insert(row.framework);
  for (const auto& name : names) {
    for (OperatorSupport row : own) {
      row.framework = name;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

TextTable operator_matrix(const std::vector<OperatorSupport>& rows) {
  std::vector<TextTable::Column> columns{"operator"};
  std::map<std::string, std::size_t> places;
  for (const auto& row : rows) {
    if (places.try_emplace(row.framework, columns.size()).second) {
      columns.emplace_back(row.framework);
    }
  }
  std::map<std::string, std::vector<std::string>> cells;
  for (const auto& row : rows) {
    auto& line = cells[row.name];
    line.resize(columns.size());
    line.front() = row.name;
    line[places[row.framework]] = cell_of(row);
  }
  TextTable table(columns);
  for (auto& [name, line] : cells) table.add(line);
  return table;
}

TextTable operator_rows(const std::vector<OperatorSupport>& rows, const std::string& name,
                        Format format) {
  TextTable table(
      {"operator", "framework", "opsets", "types", "gradient types", "passed", "cases"});
  std::set<std::string> known;
  for (const auto& row : rows) {
    known.insert(row.name);
    if (!name.empty() && row.name != name) continue;
    table.add({row.name, row.framework, row.opsets, words_of(row.types, format),
               words_of(row.gradient_types, format), fmt::format("{}", row.passed),
               fmt::format("{}", row.cases)});
  }
  if (table.size() == 0) throw_unknown_name("operator", name, {known.begin(), known.end()});
  return table;
}

}  // namespace d5

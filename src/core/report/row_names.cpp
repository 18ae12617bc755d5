// SPDX-License-Identifier: Apache-2.0
#include "core/report/row_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/results/result_cells.hpp"

namespace d5::detail {
namespace {

constexpr const char* kSubject = "subject";

bool is_number(const std::string& text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

std::vector<std::string> full_names(const std::vector<RowWords>& rows) {
  std::vector<std::string> names;
  for (const auto& words : rows) names.push_back(full_name(words));
  return names;
}

std::size_t different(const std::vector<std::string>& names) {
  return std::set(names.begin(), names.end()).size();
}

std::vector<RowWords> without(std::vector<RowWords> rows, const std::string& column) {
  for (auto& words : rows) std::erase_if(words, [&](const auto& w) { return w.column == column; });
  return rows;
}

/// Order of dropping: counts first, because the counted items tell more; the subject last.
std::vector<std::string> columns_to_drop(const std::vector<RowWords>& rows) {
  std::vector<std::string> numbers, others;
  for (const auto& words : rows) {
    for (const auto& [column, text] : words) {
      if (column == kSubject) continue;
      auto& columns = is_number(text) ? numbers : others;
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  numbers.insert(numbers.end(), others.begin(), others.end());
  return numbers;
}

std::string case_of(const Measurement& m) {
  return m.subject + '\n' + m.metric + '\n' + m.framework + '\n' + m.device + '\n';
}

/// Counts the records that these conditions distinguish, beside their cases and statistics.
std::size_t different_records(const std::vector<Measurement>& measurements,
                              const std::vector<std::string>& conditions) {
  std::set<std::string> seen;
  for (const auto& m : measurements) {
    std::string key = case_of(m) + to_string(m.statistic);
    for (const auto& name : conditions) key += '\n' + condition_of(m, name);
    seen.insert(std::move(key));
  }
  return seen.size();
}

/// The role of a condition in the first record that has it.
Role role_of(const std::string& name, const std::vector<Measurement>& measurements) {
  for (const auto& m : measurements) {
    const auto place = m.conditions.find(name);
    if (place != m.conditions.end()) return place->second.role;
  }
  return Role::identity;
}

/// The subject of all rows; empty if they differ.
std::string shared_subject(const std::vector<RowWords>& rows) {
  const bool all_alike = std::ranges::all_of(
      rows, [&](const RowWords& words) { return words.front().text == rows.front().front().text; });
  return all_alike ? rows.front().front().text : "";
}

}  // namespace

std::map<std::string, std::string> told_conditions(const Measurement& measurement) {
  std::map<std::string, std::string> told;
  for (const auto& cell : cells_of(measurement)) {
    if (measurement.conditions.contains(cell.column)) told[cell.column] = cell.text;
  }
  return told;
}

std::vector<std::string> telling_conditions(const std::vector<Measurement>& measurements) {
  // Values of each condition, by subject, metric, framework and device.
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  for (const auto& m : measurements) {
    for (const auto& [name, value] : told_conditions(m)) values[name][case_of(m)].insert(value);
  }
  std::vector<std::string> result;
  for (const auto& [name, seen] : values) {
    const bool tells =
        std::ranges::any_of(seen, [](const auto& group) { return group.second.size() > 1; });
    if (tells) result.push_back(name);
  }
  // A finding or a setting tells something only if the others leave two records alike.
  const std::size_t count = different_records(measurements, result);
  for (const Role role : {Role::finding, Role::setting}) {
    for (const std::string& name : std::vector(result)) {
      if (role_of(name, measurements) != role) continue;
      std::vector<std::string> fewer = result;
      std::erase(fewer, name);
      if (different_records(measurements, fewer) == count) result = std::move(fewer);
    }
  }
  return result;
}

RowWords row_words(const Measurement& m, const std::vector<std::string>& conditions) {
  RowWords words = {{kSubject, m.subject}};
  for (const auto& name : conditions) {
    const auto place = m.conditions.find(name);
    if (place != m.conditions.end() && name != "base")
      words.push_back({name, place->second.text()});
  }
  return words;
}

std::string full_name(const RowWords& words) {
  std::string text;
  for (const auto& [column, word] : words) {
    if (!text.empty()) text += ", ";
    // A text such as "forward" needs no name; a number does.
    text += column != kSubject && is_number(word) ? fmt::format("{} {}", column, word) : word;
  }
  return text;
}

RowNames short_names(const std::vector<RowWords>& rows) {
  if (rows.empty()) return {};
  const std::size_t count = different(full_names(rows));
  std::vector<RowWords> kept = rows;
  const auto drop = [&](const std::string& column) {
    auto fewer = without(kept, column);
    const auto names = full_names(fewer);
    if (different(names) < count || std::ranges::find(names, "") != names.end()) return false;
    kept = std::move(fewer);
    return true;
  };
  for (const auto& column : columns_to_drop(rows)) drop(column);
  const std::string shared = shared_subject(rows);
  const bool dropped = !shared.empty() && drop(kSubject);
  return {full_names(kept), dropped ? shared : ""};
}

}  // namespace d5::detail

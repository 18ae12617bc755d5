// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/record_conditions.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <regex>

#include "core/entries/unknown_name.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

namespace {

/// Escapes text for LIKE.
std::string literal_pattern(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::vector<std::string> alternatives_in(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : std::views::split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line.begin(), line.end());
  }
  return lines;
}

/// Throws: ValueError for a line that is no status, and no pattern.
void expect_statuses(const std::string& text) {
  using enum Status;
  std::vector<std::string> names;
  for (const Status one : {passed, failed, mistrusted, skipped, unsupported}) {
    names.emplace_back(name_of(one));
  }
  for (const auto& word : alternatives_in(text)) {
    const bool is_pattern = word.find('*') != std::string::npos;
    if (is_pattern || std::ranges::find(names, word) != names.end()) continue;
    throw ValueError(unknown_name("status", word, names));
  }
}

}  // namespace

std::string pattern_of(const std::string& text) {
  std::string pattern = literal_pattern(text);
  std::ranges::replace(pattern, '*', '%');
  return pattern;
}

RecordConditions::RecordConditions(const RecordFilter& filter) {
  like(of_runs_, "r.id", filter.run, "%");
  like(of_runs_, "r.evaluation", filter.key, "%");
  like(of_runs_, "s.hostname", filter.hostname);
  compare("r.time >= ", "since", filter.since);
  compare("r.time <= ", "until", filter.until);
  if (!filter.artefact.empty()) {
    of_runs_ += " AND EXISTS (SELECT 1 FROM artefact a WHERE a.run = r.id";
    like(of_runs_, "a.sha256", filter.artefact, "%");
    of_runs_ += ")";
  }
  if (!filter.model.empty()) {
    add(of_records_, "(m.subject = {} OR m.subject LIKE {} ESCAPE '\\')",
        {filter.model, literal_pattern(filter.model) + "@%"});
  }
  like(of_records_, "m.subject", filter.subject);
  if (!filter.piece.empty()) add(of_records_, "m.piece = {}", {filter.piece});
  like(of_records_, "m.level", filter.level);
  like(of_records_, "m.framework", filter.framework);
  like(of_records_, "m.device", filter.device);
  like(of_records_, "m.metric", filter.metric);
  expect_statuses(filter.status);
  like(of_records_, "m.status", filter.status);
}

void RecordConditions::also(const std::string& words, std::initializer_list<SqlValue> values) {
  add(more_, words, values);
}

void RecordConditions::any_of(const char* column, const std::vector<std::string>& texts) {
  std::string places;
  for (const auto& text : texts) places += (places.empty() ? "" : ", ") + place(text);
  more_ += fmt::format(" AND {} IN ({})", column, places.empty() ? "NULL" : places);
}

void RecordConditions::add(std::string& to, const std::string& words,
                           std::initializer_list<SqlValue> values) {
  fmt::dynamic_format_arg_store<fmt::format_context> places;
  for (const SqlValue& value : values) places.push_back(place(value));
  to += " AND " + fmt::vformat(words, places);
}

std::string RecordConditions::place(SqlValue value) {
  values_.push_back(std::move(value));
  return fmt::format("${}", values_.size());
}

void RecordConditions::like(std::string& to, const char* column, const std::string& text,
                            const char* ending) {
  std::string any;
  for (const auto& line : alternatives_in(text)) {
    any += fmt::format("{}{} LIKE {} ESCAPE '\\'", any.empty() ? "" : " OR ", column,
                       place(pattern_of(line) + ending));
  }
  if (!any.empty()) to += " AND (" + any + ")";
}

void RecordConditions::compare(const char* what, const char* name, const std::string& text) {
  if (text.empty()) return;
  static const std::regex time(
      "\\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\\d|3[01])(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?Z?)?)?)?");
  if (!std::regex_match(text, time)) {
    throw ValueError(
        fmt::format("{} is '{}', expected a time in UTC: 2026-11-26, or 2026-11-26T10:30:00Z", name,
                    printable(text)));
  }
  add(of_runs_, std::string(what) + "{}", {text});
}

}  // namespace d5::detail

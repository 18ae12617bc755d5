// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/record_conditions.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

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
  compare("r.time >= ", filter.since);
  compare("r.time <= ", filter.until);
  if (!filter.artefact.empty()) {
    add(of_runs_,
        "EXISTS (SELECT 1 FROM artefact a WHERE a.run = r.id AND a.sha256 LIKE {} ESCAPE '\\')",
        {pattern_of(filter.artefact) + "%"});
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
  if (text.empty()) return;
  add(to, std::string(column) + " LIKE {} ESCAPE '\\'", {pattern_of(text) + ending});
}

void RecordConditions::compare(const char* what, const std::string& text) {
  if (!text.empty()) add(of_runs_, std::string(what) + "{}", {text});
}

}  // namespace d5::detail

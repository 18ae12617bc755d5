// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/record_conditions.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

namespace d5::detail {

namespace {

/// The text itself, as LIKE takes it.
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
  like("r.id", filter.run, "%");
  like("r.evaluation", filter.key, "%");
  like("s.hostname", filter.hostname);
  compare("r.time >= ", filter.since);
  compare("r.time <= ", filter.until);
  if (!filter.artefact.empty()) {
    also("EXISTS (SELECT 1 FROM artefact a WHERE a.run = r.id AND a.sha256 LIKE {} ESCAPE '\\')",
         {pattern_of(filter.artefact) + "%"});
  }
  const std::size_t of_runs = text_.size();
  if (!filter.model.empty()) {
    also("(m.subject = {} OR m.subject LIKE {} ESCAPE '\\')",
         {filter.model, literal_pattern(filter.model) + "@%"});
  }
  like("m.subject", filter.subject);
  if (!filter.piece.empty()) also("m.piece = {}", {filter.piece});
  like("m.level", filter.level);
  like("m.framework", filter.framework);
  like("m.device", filter.device);
  like("m.metric", filter.metric);
  like("m.status", filter.status);
  asks_records_ = text_.size() > of_runs;
}

void RecordConditions::also(const std::string& words, std::initializer_list<SqlValue> values) {
  fmt::dynamic_format_arg_store<fmt::format_context> places;
  for (const SqlValue& value : values) places.push_back(place(value));
  text_ += " AND " + fmt::vformat(words, places);
}

std::string RecordConditions::place(SqlValue value) {
  values_.push_back(std::move(value));
  return fmt::format("${}", values_.size());
}

void RecordConditions::like(const char* column, const std::string& text, const char* ending) {
  if (text.empty()) return;
  also(std::string(column) + " LIKE {} ESCAPE '\\'", {pattern_of(text) + ending});
}

void RecordConditions::compare(const char* what, const std::string& text) {
  if (!text.empty()) also(std::string(what) + "{}", {text});
}

}  // namespace d5::detail

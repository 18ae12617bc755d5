// SPDX-License-Identifier: Apache-2.0
#include "apps/work_rows.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "apps/publish.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"
#include "d5/level1_network/profile/network_profile.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"

namespace d5::app {
namespace {

std::vector<std::string> subjects_of(const std::vector<WorkPiece>& pieces) {
  std::vector<std::string> subjects;
  for (const auto& one : pieces) subjects.push_back(one.record.subject);
  return subjects;
}

/// Conditions in which the pieces differ, such as the batch, each with its longest value.
std::map<std::string, std::string> varying_in(const std::vector<WorkPiece>& pieces) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& one : pieces) {
    for (const auto& [name, condition] : one.record.conditions) {
      values[name].insert(condition.text());
    }
  }
  std::map<std::string, std::string> varying;
  for (const auto& [name, texts] : values) {
    if (texts.size() > 1) varying[name] = *std::ranges::max_element(texts, {}, &std::string::size);
  }
  return varying;
}

/// Whether a reduction found nothing to reduce. A mistrusted one keeps its row, with the reason.
bool is_idle_reduction(const Measurement& m) {
  return m.metric.starts_with("reduced_") && m.status == Status::passed;
}

/// Whether people get tables or lines of their own for the record, not rows.
bool has_no_row(const Measurement& m) { return is_node_comparison(m) || is_idle_reduction(m); }

/// "lenet, torch: nothing fails: there is nothing to reduce"
void print_idle_reductions(const std::vector<Measurement>& records) {
  for (const auto& m : records) {
    if (!is_idle_reduction(m)) continue;
    print_wrapped(fmt::format("{}, {}: nothing fails: there is nothing to reduce",
                              printable_message(m.subject), printable_message(m.framework)));
  }
}

}  // namespace

WorkRows::WorkRows(const std::vector<WorkPiece>& pieces, const OutputOptions& output, Blocks blocks)
    : output_(output),
      blocks_(is_for_people(output.format) ? blocks : Blocks::together),
      subjects_(blocks_ == Blocks::together ? subjects_of(pieces) : std::vector<std::string>()) {
  if (blocks_ == Blocks::together) varying_ = varying_in(pieces);
}

ResultPrinter& WorkRows::printer() {
  if (!printer_) {
    printer_.emplace(environment(), output_.format, screen_of(STDOUT_FILENO), subjects_, varying_);
  }
  return *printer_;
}

/// A network's parts have too many records for rows: people get tables of the most important ones.
void WorkRows::add(std::vector<Measurement> records) {
  if (!output_.pivot.empty()) return;
  const auto print_parts = [&](const auto& is_part, const auto& tables) {
    if (!is_for_people(output_.format) || std::ranges::none_of(records, is_part)) return;
    print(tables(records, output_.format) + "\n", output_.format);
    std::erase_if(records, is_part);
  };
  print_parts(is_profile_record, profile_tables);
  print_parts(is_node_comparison, node_comparison_tables);
  if (is_for_people(output_.format)) {
    print_idle_reductions(records);
    std::erase_if(records, is_idle_reduction);
  }
  const bool apart = blocks_ == Blocks::apart;
  if (apart && records.empty()) return;
  print((apart && printed_ ? "\n" : "") + printer().add(records), output_.format);
  printed_ = true;
  if (!apart) return;
  print(printer().end(environment()), output_.format);
  printer_.reset();
}

void WorkRows::end(const Results& all) {
  if (!output_.pivot.empty() || is_drawn(output_.format)) return print(all, output_);
  const bool all_said = blocks_ == Blocks::apart && printed_;
  if (!all_said && !only_tables(all)) print(printer().end(all.environment), output_.format);
}

/// Whether all rows were printed in tables of their own.
bool WorkRows::only_tables(const Results& all) const {
  return is_for_people(output_.format) && !all.measurements.empty() &&
         std::ranges::all_of(all.measurements, has_no_row);
}

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/results/written_record.hpp"

namespace d5 {
namespace {

std::string joined(const Conditions& conditions) {
  std::string text;
  for (const auto& [name, condition] : conditions) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", name, condition.exact());
  }
  return text;
}

std::string joined(const std::vector<Artefact>& artefacts) {
  std::string text;
  for (const auto& one : artefacts) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", one.name);
    if (!one.version.empty()) text += " " + one.version;
    if (!one.sha256.empty()) text += " sha256=" + one.sha256;
  }
  return text;
}

std::vector<std::string> row_of(const detail::WrittenRecord& written,
                                const Environment& environment) {
  const auto& [m, statistic, e] = written;
  const Summary s = summarise(m.samples);
  std::vector<std::string> row = {m.subject,
                                  m.level,
                                  m.framework,
                                  m.framework_version,
                                  m.device,
                                  m.metric,
                                  std::string(name_of(m.quantity)),
                                  m.unit,
                                  std::string(name_of(m.direction)),
                                  std::string(name_of(m.status)),
                                  m.reason,
                                  fmt::format("{}", s.count),
                                  statistic};
  for (const double number : {e.value, e.interval.low, e.interval.high, e.confidence, s.minimum,
                              s.first_quartile, s.median, s.third_quartile, s.maximum, s.mean}) {
    row.push_back(m.samples.empty() ? "" : fmt::format("{}", number));
  }
  row.insert(row.end(), {joined(m.conditions), joined(m.artefacts), m.command, environment.time,
                         environment.hostname});
  return row;
}

/// One line per record, after a line of titles.
template <class Records>
std::string csv_lines(const Records& records, const Environment& environment) {
  TextTable table({"subject",        "level",   "framework",      "framework_version",
                   "device",         "metric",  "quantity",       "unit",
                   "direction",      "status",  "reason",         "samples",
                   "statistic",      "value",   "interval_low",   "interval_high",
                   "confidence",     "minimum", "first_quartile", "median",
                   "third_quartile", "maximum", "mean",           "conditions",
                   "artefacts",      "command", "time",           "hostname"});
  for (const auto& record : records) table.add(row_of(detail::written(record), environment));
  return table.to_text(Format::csv);
}

}  // namespace

std::string to_csv(const Results& results) {
  return csv_lines(results.measurements, results.environment);
}

std::string detail::summary_to_csv(const Results& results) {
  const std::string text = csv_lines(sum_up_ratios(results.measurements), results.environment);
  return text.substr(text.find("\r\n") + 2);
}

}  // namespace d5

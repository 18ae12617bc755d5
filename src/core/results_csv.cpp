// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/results.hpp"

namespace d5 {
namespace {

template <class Pairs>
std::string joined(const Pairs& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", name, value);
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

}  // namespace

std::string to_csv(const Results& results) {
  TextTable table({"subject",        "level",   "framework",      "framework_version",
                   "device",         "metric",  "quantity",       "unit",
                   "direction",      "status",  "reason",         "samples",
                   "statistic",      "value",   "interval_low",   "interval_high",
                   "confidence",     "minimum", "first_quartile", "median",
                   "third_quartile", "maximum", "mean",           "conditions",
                   "artefacts",      "command", "time",           "hostname"});
  for (const auto& m : results.measurements) {
    const Summary s = summarise(m.samples);
    const Estimate e = estimate(m);
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
                                    to_string(m.statistic)};
    for (const double number : {e.value, e.interval.low, e.interval.high, e.confidence, s.minimum,
                                s.first_quartile, s.median, s.third_quartile, s.maximum, s.mean}) {
      row.push_back(m.samples.empty() ? "" : fmt::format("{}", number));
    }
    row.insert(row.end(), {joined(m.conditions), joined(m.artefacts), m.command,
                           results.environment.time, results.environment.hostname});
    table.add(std::move(row));
  }
  return table.to_text(Format::csv);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/ratio_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "d5/core/statistics/geometric_mean.hpp"

namespace d5 {
namespace {

constexpr const char* kDash = "–";

/// Cases that are summarised together.
struct Group {
  Measurement record;
  std::vector<JudgedRatio> ratios;
};

Measurement record_of(const Measurement& ratio) {
  Measurement record{.level = ratio.level,
                     .framework = ratio.framework,
                     .framework_version = ratio.framework_version,
                     .device = ratio.device,
                     .metric = "mean_time_ratio",
                     .unit = ratio.unit,
                     .quantity = Quantity::ratio};
  for (const char* name : {"base", "pass"}) {
    const auto place = ratio.conditions.find(name);
    if (place != ratio.conditions.end()) record.conditions.insert(*place);
  }
  return record;
}

std::vector<Group> groups_in(const std::vector<Measurement>& measurements) {
  std::vector<Group> groups;
  for (const auto& m : measurements) {
    if (m.metric != "time_ratio" || m.samples.empty()) continue;
    Measurement record = record_of(m);
    auto place = std::ranges::find_if(groups, [&](const Group& group) {
      return group.record.framework == record.framework && group.record.device == record.device &&
             group.record.conditions == record.conditions;
    });
    if (place == groups.end()) place = groups.insert(place, {std::move(record), {}});
    const Estimate ratio = estimate(m);
    place->ratios.push_back({ratio.value, ratio.interval, m.status == Status::mistrusted});
    place->record.samples.push_back(ratio.value);
  }
  return groups;
}

}  // namespace

RatioSummary summarise_ratios(std::span<const JudgedRatio> ratios) {
  RatioSummary result{.ratios = ratios.size()};
  std::vector<double> values;
  for (const auto& [ratio, interval, mistrusted] : ratios) {
    values.push_back(ratio);
    ++(mistrusted          ? result.mistrusted
       : interval.high < 1 ? result.faster
       : interval.low > 1  ? result.slower
                           : result.undecided);
  }
  result.mean = geometric_mean(values);
  return result;
}

std::string text_of_ratio(const Interval& interval) {
  const bool known = interval.low <= interval.high;  // false for NaN
  return known ? fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high) : "";
}

std::string text_of_mean(const Interval& interval) {
  const std::string text = text_of_ratio(interval);
  return text.empty() ? kDash : text;
}

std::string note_on_means(const std::vector<TextTable>& tables) {
  const bool any = std::ranges::any_of(tables, [](const TextTable& table) {
    return std::ranges::any_of(table.rows(), [](const std::vector<std::string>& row) {
      return std::ranges::find(row, kDash) != row.end();
    });
  });
  if (!any) return "";
  return fmt::format("{} no interval: fewer than {} cases tell nothing of others", kDash,
                     kFewestForMeanInterval);
}

std::vector<SummedRatios> sum_up_ratios(const std::vector<Measurement>& measurements) {
  std::vector<SummedRatios> sums;
  for (auto& [record, ratios] : groups_in(measurements)) {
    if (ratios.size() < 2) continue;
    sums.push_back({std::move(record), summarise_ratios(ratios)});
    auto& [sum, all] = sums.back();
    sum.subject = fmt::format("{} cases", all.ratios);
    for (const auto& [name, cases] : {std::pair{"faster", all.faster},
                                      {"slower", all.slower},
                                      {"undecided", all.undecided},
                                      {"mistrusted", all.mistrusted}}) {
      sum.conditions[name] = finding(cases);
    }
    if (all.mistrusted > 0) {
      mistrust(sum, fmt::format("{} of {} ratios mistrusted", all.mistrusted, all.ratios));
    }
  }
  return sums;
}

TextTable summary_of_ratios(const std::vector<Measurement>& measurements) {
  using enum TextTable::Align;
  TextTable table({"framework",
                   "base",
                   "device",
                   "pass",
                   {"cases", right},
                   {"geometric mean", right},
                   "95% interval",
                   {"faster", right},
                   {"slower", right},
                   {"undecided", right},
                   {"mistrusted", right}});
  for (const auto& [record, all] : sum_up_ratios(measurements)) {
    const std::string device = record.device == "cpu" ? "" : record.device;  // omit the default
    std::vector<std::string> row = {record.framework, condition_of(record, "base"), device,
                                    condition_of(record, "pass"), fmt::format("{}", all.ratios)};
    // A ratio of 0, to a time below the clock's resolution, has no logarithm.
    row.push_back(std::isnan(all.mean.value) ? "" : fmt::format("{:.3f}", all.mean.value));
    row.push_back(text_of_mean(all.mean.interval));
    for (const std::size_t cases : {all.faster, all.slower, all.undecided, all.mistrusted}) {
      row.push_back(fmt::format("{}", cases));
    }
    table.add(std::move(row));
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5

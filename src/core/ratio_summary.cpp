// SPDX-License-Identifier: Apache-2.0
#include "d5/core/ratio_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/geometric_mean.hpp"

namespace d5 {
namespace {

/// Cases that are summed up together.
struct Group {
  std::vector<std::string> names;  ///< framework, base, device, pass
  std::vector<JudgedRatio> ratios;
};

std::vector<Group> groups_in(const std::vector<Measurement>& measurements) {
  std::vector<Group> groups;
  for (const auto& m : measurements) {
    if (m.metric != "time_ratio" || m.samples.empty()) continue;
    const auto condition = [&](const char* name) {
      const auto place = m.conditions.find(name);
      return place == m.conditions.end() ? "" : place->second;
    };
    const std::vector<std::string> names{m.framework, condition("base"), m.device,
                                         condition("pass")};
    auto place = std::ranges::find(groups, names, &Group::names);
    if (place == groups.end()) place = groups.insert(place, {names, {}});
    const Estimate ratio = estimate(m);
    place->ratios.push_back({ratio.value, ratio.interval, m.status == Status::mistrusted});
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
  for (const auto& [names, ratios] : groups_in(measurements)) {
    if (ratios.size() < 2) continue;
    const RatioSummary all = summarise_ratios(ratios);
    std::vector<std::string> row = names;
    row.push_back(fmt::format("{}", all.ratios));
    row.push_back(fmt::format("{:.3f}", all.mean.value));
    row.push_back(text_of_ratio(all.mean.interval));
    for (const std::size_t cases : {all.faster, all.slower, all.undecided, all.mistrusted}) {
      row.push_back(fmt::format("{}", cases));
    }
    table.add(std::move(row));
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5

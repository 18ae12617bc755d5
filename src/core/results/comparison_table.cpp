// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/results/metric_names.hpp"
#include "core/results/varying_conditions.hpp"
#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/results/result_comparison.hpp"

namespace d5 {
namespace {

bool is_mistrusted(const ResultPair& pair) {
  return pair.a.status == Status::mistrusted || pair.b.status == Status::mistrusted;
}

std::string verdict_on(const Interval& ratio, Direction direction) {
  if (!(ratio.low <= ratio.high)) return "no interval";
  const bool above = ratio.low > 1, below = ratio.high < 1;
  if (!above && !below) return "same within noise";
  if (direction == Direction::neither) return "differs";
  return above == (direction == Direction::lower_is_better) ? "worse" : "better";
}

std::string verdict_on(const ResultPair& pair) {
  if (is_mistrusted(pair)) return "mistrusted";
  if (pair.ratio == 1 && (!pair.has_interval() || pair.is_counted())) return "same";
  return verdict_on(pair.interval, pair.a.direction);
}

std::vector<std::string> metric_names(const std::vector<ResultPair>& pairs) {
  detail::MetricNames all;
  for (const auto& pair : pairs) all.add(pair.a);
  std::vector<std::string> names;
  for (const auto& pair : pairs) names.push_back(all.of(pair.a));
  return names;
}

/// Adds a row for each time metric of several pairs.
void add_means(TextTable& table, const std::vector<ResultPair>& pairs,
               const std::vector<std::string>& names, std::size_t conditions) {
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].a.quantity != Quantity::time) continue;
    if (std::ranges::find(metrics, names[i]) == metrics.end()) metrics.push_back(names[i]);
  }
  for (const auto& metric : metrics) {
    std::vector<JudgedRatio> ratios;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (names[i] != metric) continue;
      ratios.push_back({pairs[i].ratio, pairs[i].interval, is_mistrusted(pairs[i])});
    }
    if (ratios.size() < 2) continue;
    const RatioSummary all = summarise_ratios(ratios);
    const std::string verdict = all.mistrusted > 0
                                    ? "mistrusted"
                                    : verdict_on(all.mean.interval, Direction::lower_is_better);
    std::vector<std::string> row = {"geometric mean", fmt::format("{} pairs", all.ratios)};
    row.resize(row.size() + conditions);
    for (auto& cell : {metric, std::string(), std::string(), fmt::format("{:.3f}", all.mean.value),
                       text_of_mean(all.mean.interval), std::string(),
                       fmt::format("{}: {} faster, {} slower, {} undecided, {} mistrusted", verdict,
                                   all.faster, all.slower, all.undecided, all.mistrusted)}) {
      row.push_back(cell);
    }
    table.add(std::move(row));
  }
}

}  // namespace

TextTable to_table(const std::vector<ResultPair>& pairs) {
  std::vector<const Measurement*> records;
  for (const auto& pair : pairs) records.push_back(&pair.a);
  const auto conditions = detail::varying_conditions(records);
  std::vector<TextTable::Column> columns = {"subject", "framework"};
  columns.insert(columns.end(), conditions.begin(), conditions.end());
  for (const char* name : {"metric", "A", "B", "B / A", "95% interval", "p", "verdict"}) {
    columns.emplace_back(name);
  }
  TextTable table(std::move(columns));
  const auto names = metric_names(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ResultPair& pair = pairs[i];
    const bool same = pair.a.framework == pair.b.framework;
    std::vector<std::string> row = {
        pair.a.subject, same ? pair.a.framework : pair.a.framework + " -> " + pair.b.framework};
    for (const std::string& name : conditions) row.push_back(condition_of(pair.a, name));
    for (auto& cell :
         {names[i], with_prefix(estimate(pair.a).value, pair.a.unit),
          with_prefix(estimate(pair.b).value, pair.b.unit), fmt::format("{:.3f}", pair.ratio),
          text_of_ratio(pair.interval), fmt::format("{:.2g}", pair.p_value), verdict_on(pair)}) {
      row.push_back(cell);
    }
    table.add(std::move(row));
  }
  add_means(table, pairs, names, conditions.size());
  return table;
}

}  // namespace d5

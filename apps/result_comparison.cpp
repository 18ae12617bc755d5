// SPDX-License-Identifier: Apache-2.0
#include "apps/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace d5::app {
namespace {

/// What identifies a measurement besides its conditions that d5 chose itself.
std::string key_of(const Measurement& m, bool with_framework) {
  std::string key = m.level + '\n' + m.subject + '\n' + m.metric + '\n' + m.unit + '\n';
  if (with_framework) key += m.framework;
  for (const char* name :
       {"pass", "batch", "test", "output", "cache", "threads", "rank", "ranks"}) {
    const auto place = m.conditions.find(name);
    key += '\n';
    if (place != m.conditions.end()) key += place->second;
  }
  return key;
}

bool share_a_framework(const Results& a, const Results& b) {
  std::set<std::string> in_a;
  for (const auto& m : a.measurements) in_a.insert(m.framework);
  return std::ranges::any_of(b.measurements,
                             [&](const Measurement& m) { return in_a.contains(m.framework); });
}

bool comparable(const Measurement& m) {
  return !m.samples.empty() && (m.status == Status::passed || m.status == Status::mistrusted);
}

ResultPair make_pair_of(const Measurement& a, const Measurement& b) {
  constexpr double kConfidenceOfEach = 0.975;
  const Summary of_a = summarise(a.samples, kConfidenceOfEach);
  const Summary of_b = summarise(b.samples, kConfidenceOfEach);
  ResultPair pair{.a = a, .b = b};
  pair.ratio = of_b.median / of_a.median;
  pair.interval = {of_b.median_interval.low / of_a.median_interval.high,
                   of_b.median_interval.high / of_a.median_interval.low};
  pair.p_value = rank_test(b.samples, a.samples);
  return pair;
}

std::string verdict_on(const ResultPair& pair) {
  if (pair.a.status == Status::mistrusted || pair.b.status == Status::mistrusted) {
    return "mistrusted";
  }
  const bool above = pair.interval.low > 1, below = pair.interval.high < 1;
  if (!above && !below) return "same within noise";
  if (pair.a.direction == Direction::neither) return "differs";
  return above == (pair.a.direction == Direction::lower_is_better) ? "worse" : "better";
}

}  // namespace

bool ResultPair::worse_by(double limit) const {
  if (a.direction == Direction::lower_is_better) return interval.low > limit;
  if (a.direction == Direction::higher_is_better) return interval.high < 1 / limit;
  return false;
}

std::vector<ResultPair> compare_results(const Results& a, const Results& b) {
  const bool with_framework = share_a_framework(a, b);
  std::map<std::string, const Measurement*> in_b;
  for (const auto& m : b.measurements) {
    if (comparable(m)) in_b.emplace(key_of(m, with_framework), &m);
  }
  std::vector<ResultPair> pairs;
  for (const auto& m : a.measurements) {
    const auto place = in_b.find(key_of(m, with_framework));
    if (comparable(m) && place != in_b.end()) pairs.push_back(make_pair_of(m, *place->second));
  }
  return pairs;
}

TextTable to_table(const std::vector<ResultPair>& pairs) {
  TextTable table(
      {"subject", "framework", "metric", "A", "B", "B / A", "95% interval", "p", "verdict"});
  for (const auto& pair : pairs) {
    const bool same = pair.a.framework == pair.b.framework;
    table.add({pair.a.subject,
               same ? pair.a.framework : pair.a.framework + " -> " + pair.b.framework,
               pair.a.metric, with_prefix(summarise(pair.a.samples).median, pair.a.unit),
               with_prefix(summarise(pair.b.samples).median, pair.b.unit),
               fmt::format("{:.3f}", pair.ratio),
               fmt::format("[{:.3f}, {:.3f}]", pair.interval.low, pair.interval.high),
               fmt::format("{:.2g}", pair.p_value), verdict_on(pair)});
  }
  return table;
}

}  // namespace d5::app

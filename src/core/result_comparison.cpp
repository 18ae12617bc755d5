// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace d5 {
namespace {

/// Conditions that may be what is compared, and those that say what was measured.
constexpr std::array kMayDiffer{"level",   "framework", "ranks",         "threads",
                                "batch",   "cache",     "distributed",   "all_reduce",
                                "scaling", "optimizer", "learning_rate", "seed"};
constexpr std::array kMustAgree{"pass", "test",     "tensor", "rank", "base",
                                "by",   "operator", "layer",  "node", "direction"};

std::string condition(const Measurement& m, const std::string& name) {
  if (name == "level") return m.level;
  if (name == "framework") return m.framework;
  const auto place = m.conditions.find(name);
  return place == m.conditions.end() ? "" : place->second;
}

bool comparable(const Measurement& m) {
  return !m.samples.empty() && (m.status == Status::passed || m.status == Status::mistrusted);
}

/// Its one value in all measurements that can be compared; nothing if there are several.
std::optional<std::string> only_value(const Results& results, const std::string& name) {
  std::optional<std::string> value;
  for (const auto& m : results.measurements) {
    if (!comparable(m)) continue;
    if (value && *value != condition(m, name)) return {};
    value = condition(m, name);
  }
  return value;
}

std::string key_of(const Measurement& m, const std::vector<ResultDifference>& but) {
  std::string key = m.subject + '\n' + m.metric + '\n' + m.unit + '\n' + to_string(m.statistic);
  for (const char* name : kMustAgree) key += '\n' + condition(m, name);
  for (const char* name : kMayDiffer) {
    if (std::ranges::find(but, name, &ResultDifference::name) == but.end()) {
      key += '\n' + condition(m, name);
    }
  }
  return key;
}

ResultPair make_pair_of(const Measurement& a, const Measurement& b) {
  constexpr double kConfidenceOfEach = 0.975;
  const Estimate of_a = estimate(a.samples, a.statistic, a.direction, kConfidenceOfEach);
  const Estimate of_b = estimate(b.samples, b.statistic, b.direction, kConfidenceOfEach);
  ResultPair pair{.a = a, .b = b};
  pair.ratio = of_b.value / of_a.value;
  pair.interval = {of_b.interval.low / of_a.interval.high, of_b.interval.high / of_a.interval.low};
  pair.p_value = rank_test(b.samples, a.samples);
  return pair;
}

std::string verdict_on(const ResultPair& pair) {
  if (pair.a.status == Status::mistrusted || pair.b.status == Status::mistrusted) {
    return "mistrusted";
  }
  if (!pair.has_interval()) return pair.ratio == 1 ? "same" : "no interval";
  const bool above = pair.interval.low > 1, below = pair.interval.high < 1;
  if (!above && !below) return "same within noise";
  if (pair.a.direction == Direction::neither) return "differs";
  return above == (pair.a.direction == Direction::lower_is_better) ? "worse" : "better";
}

}  // namespace

bool ResultPair::has_interval() const { return interval.low <= interval.high; }

bool ResultPair::worse_by(double limit) const {
  if (a.direction == Direction::lower_is_better) return interval.low > limit;
  if (a.direction == Direction::higher_is_better) return interval.high < 1 / limit;
  return false;
}

std::vector<ResultDifference> differences(const Results& a, const Results& b) {
  std::vector<ResultDifference> result;
  for (const char* name : kMayDiffer) {
    const auto in_a = only_value(a, name), in_b = only_value(b, name);
    if (in_a && in_b && *in_a != *in_b) result.push_back({name, *in_a, *in_b});
  }
  return result;
}

std::vector<ResultPair> compare_results(const Results& a, const Results& b) {
  const auto but = differences(a, b);
  std::map<std::string, const Measurement*> in_b;
  for (const auto& m : b.measurements) {
    if (comparable(m)) in_b.emplace(key_of(m, but), &m);
  }
  std::vector<ResultPair> pairs;
  for (const auto& m : a.measurements) {
    const auto place = in_b.find(key_of(m, but));
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
               pair.a.metric, with_prefix(estimate(pair.a).value, pair.a.unit),
               with_prefix(estimate(pair.b).value, pair.b.unit), fmt::format("{:.3f}", pair.ratio),
               pair.has_interval()
                   ? fmt::format("[{:.3f}, {:.3f}]", pair.interval.low, pair.interval.high)
                   : "",
               fmt::format("{:.2g}", pair.p_value), verdict_on(pair)});
  }
  return table;
}

}  // namespace d5

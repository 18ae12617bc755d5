// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/results/metric_names.hpp"
#include "d5/core/ratio_summary.hpp"

namespace d5 {
namespace {

/// Conditions that may be what is compared, and those that say what was measured.
constexpr std::array kMayDiffer{
    "level",       "framework",  "ranks",   "threads",   "batch",         "cache",
    "distributed", "all_reduce", "scaling", "optimizer", "learning_rate", "seed",
    "transform",   "scenario",   "dataset", "split",     "instances",     "trace level"};
constexpr std::array kMustAgree{"pass",       "test",     "tensor",    "rank",     "base",
                                "by",         "operator", "layer",     "node",     "direction",
                                "repetition", "step",     "resources", "candidate"};

std::string condition(const Measurement& m, const std::string& name) {
  if (name == "level") return m.level;
  if (name == "framework") return m.framework;
  return condition_of(m, name);
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

constexpr std::size_t kMostCandidates = 1000;  ///< more of a key are looked at by nobody

/// Of each key, those that can be compared; where none can, the others.
using Candidates = std::map<std::string, std::vector<const Measurement*>>;

Candidates by_key(const Results& results, const std::vector<ResultDifference>& but) {
  Candidates all;
  for (const auto& m : results.measurements) {
    auto& same = all[key_of(m, but)];
    if (!same.empty() && comparable(m) && !comparable(*same.front())) same.clear();
    const bool fits = same.empty() || comparable(m) == comparable(*same.front());
    if (fits && same.size() < kMostCandidates) same.push_back(&m);
  }
  return all;
}

/// In how many conditions they differ.
std::size_t distance(const Measurement& a, const Measurement& b) {
  const auto differs = [](const auto& from, const auto& to) {
    return std::size_t(std::ranges::count_if(from, [&](const auto& condition) {
      const auto there = to.find(condition.first);
      return there == to.end() || there->second != condition.second;
    }));
  };
  return differs(a.conditions, b.conditions) + differs(b.conditions, a.conditions);
}

/// The one of the same key that was measured most alike; null: there is none.
const Measurement* partner_of(const Measurement& m, const Candidates& candidates,
                              const std::vector<ResultDifference>& but) {
  const auto place = candidates.find(key_of(m, but));
  if (place == candidates.end()) return nullptr;
  return *std::ranges::min_element(place->second, {},
                                   [&](const Measurement* other) { return distance(m, *other); });
}

/// Nothing and nothing are the same.
double quotient(double b, double a) { return a == b ? 1 : b / a; }

bool counted_once(const Measurement& m) {
  return m.statistic.of == Statistic::Of::single &&
         (m.quantity == Quantity::bytes || m.quantity == Quantity::count);
}

ResultPair make_pair_of(const Measurement& a, const Measurement& b) {
  constexpr double kConfidenceOfEach = 0.975;
  const Estimate of_a = estimate(a.samples, a.statistic, a.direction, kConfidenceOfEach);
  const Estimate of_b = estimate(b.samples, b.statistic, b.direction, kConfidenceOfEach);
  ResultPair pair{.a = a, .b = b};
  pair.ratio = quotient(of_b.value, of_a.value);
  pair.interval = {quotient(of_b.interval.low, of_a.interval.high),
                   quotient(of_b.interval.high, of_a.interval.low)};
  if (counted_once(a) && counted_once(b)) pair.interval = {pair.ratio, pair.ratio};
  pair.p_value = rank_test(b.samples, a.samples);
  return pair;
}

bool is_known(const Interval& interval) { return interval.low <= interval.high; }

bool is_mistrusted(const ResultPair& pair) {
  return pair.a.status == Status::mistrusted || pair.b.status == Status::mistrusted;
}

std::string verdict_on(const Interval& ratio, Direction direction) {
  if (!is_known(ratio)) return "no interval";
  const bool above = ratio.low > 1, below = ratio.high < 1;
  if (!above && !below) return "same within noise";
  if (direction == Direction::neither) return "differs";
  return above == (direction == Direction::lower_is_better) ? "worse" : "better";
}

std::string verdict_on(const ResultPair& pair) {
  if (is_mistrusted(pair)) return "mistrusted";
  if (pair.ratio == 1 && (!pair.has_interval() || counted_once(pair.a))) return "same";
  return verdict_on(pair.interval, pair.a.direction);
}

std::vector<std::string> metric_names(const std::vector<ResultPair>& pairs) {
  detail::MetricNames all;
  for (const auto& pair : pairs) all.add(pair.a);
  std::vector<std::string> names;
  for (const auto& pair : pairs) names.push_back(all.of(pair.a));
  return names;
}

/// Conditions that say what was measured, where not all pairs agree in them.
std::vector<std::string> varying_conditions(const std::vector<ResultPair>& pairs) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const bool varies = std::ranges::any_of(pairs, [&](const ResultPair& pair) {
      return condition_of(pair.a, name) != condition_of(pairs.front().a, name);
    });
    if (varies) names.push_back(name);
  };
  for (const char* name : kMayDiffer) add(name);
  for (const char* name : kMustAgree) add(name);
  return names;
}

/// A row for each metric of time that several pairs hold.
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

bool ResultPair::has_interval() const { return is_known(interval); }

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
  const auto in_b = by_key(b, but);
  std::vector<ResultPair> pairs;
  for (const auto& m : a.measurements) {
    if (!comparable(m)) continue;
    const Measurement* const other = partner_of(m, in_b, but);
    if (other && comparable(*other)) pairs.push_back(make_pair_of(m, *other));
  }
  return pairs;
}

std::vector<MissingResult> missing_results(const Results& a, const Results& b) {
  const auto but = differences(a, b);
  const auto in_b = by_key(b, but);
  std::vector<MissingResult> missing;
  for (const auto& m : a.measurements) {
    if (!comparable(m)) continue;
    const Measurement* const other = partner_of(m, in_b, but);
    if (!other) {
      missing.push_back({m, "B has no such record"});
    } else if (!comparable(*other)) {
      missing.push_back({m, fmt::format("B is {}: {}", name_of(other->status), other->reason)});
    }
  }
  return missing;
}

TextTable to_table(const std::vector<ResultPair>& pairs) {
  const auto conditions = varying_conditions(pairs);
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

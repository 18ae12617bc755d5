// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "d5/core/ratio_summary.hpp"

namespace d5 {
namespace {

/// Conditions that may be what is compared, and those that say what was measured.
constexpr std::array kMayDiffer{
    "level",      "framework", "ranks",     "threads",       "batch", "cache",    "distributed",
    "all_reduce", "scaling",   "optimizer", "learning_rate", "seed",  "transform"};
constexpr std::array kMustAgree{"pass", "test",     "tensor", "rank", "base",
                                "by",   "operator", "layer",  "node", "direction"};

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

/// The first of each key that can be compared, or else the first.
std::map<std::string, const Measurement*> by_key(const Results& results,
                                                 const std::vector<ResultDifference>& but) {
  std::map<std::string, const Measurement*> result;
  for (const auto& m : results.measurements) {
    const auto [place, fresh] = result.emplace(key_of(m, but), &m);
    if (!fresh && !comparable(*place->second)) place->second = &m;
  }
  return result;
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

/// A row for each metric of time that several pairs hold.
void add_means(TextTable& table, const std::vector<ResultPair>& pairs) {
  std::vector<std::string> metrics;
  for (const auto& pair : pairs) {
    if (pair.a.quantity != Quantity::time) continue;
    if (std::ranges::find(metrics, pair.a.metric) == metrics.end())
      metrics.push_back(pair.a.metric);
  }
  for (const auto& metric : metrics) {
    std::vector<JudgedRatio> ratios;
    for (const auto& pair : pairs) {
      if (pair.a.metric != metric) continue;
      ratios.push_back({pair.ratio, pair.interval, is_mistrusted(pair)});
    }
    if (ratios.size() < 2) continue;
    const RatioSummary all = summarise_ratios(ratios);
    const std::string verdict = all.mistrusted > 0
                                    ? "mistrusted"
                                    : verdict_on(all.mean.interval, Direction::lower_is_better);
    table.add({"geometric mean", fmt::format("{} pairs", all.ratios), metric, "", "",
               fmt::format("{:.3f}", all.mean.value), text_of_mean(all.mean.interval), "",
               fmt::format("{}: {} faster, {} slower, {} undecided, {} mistrusted", verdict,
                           all.faster, all.slower, all.undecided, all.mistrusted)});
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
    const auto place = in_b.find(key_of(m, but));
    if (!comparable(m) || place == in_b.end() || !comparable(*place->second)) continue;
    pairs.push_back(make_pair_of(m, *place->second));
  }
  return pairs;
}

std::vector<MissingResult> missing_results(const Results& a, const Results& b) {
  const auto but = differences(a, b);
  const auto in_b = by_key(b, but);
  std::vector<MissingResult> missing;
  for (const auto& m : a.measurements) {
    if (!comparable(m)) continue;
    const auto place = in_b.find(key_of(m, but));
    if (place == in_b.end()) {
      missing.push_back({m, "B has no such record"});
    } else if (!comparable(*place->second)) {
      const Measurement& other = *place->second;
      missing.push_back({m, fmt::format("B is {}: {}", name_of(other.status), other.reason)});
    }
  }
  return missing;
}

TextTable to_table(const std::vector<ResultPair>& pairs) {
  TextTable table(
      {"subject", "framework", "metric", "A", "B", "B / A", "95% interval", "p", "verdict"});
  for (const auto& pair : pairs) {
    const bool same = pair.a.framework == pair.b.framework;
    table.add(
        {pair.a.subject, same ? pair.a.framework : pair.a.framework + " -> " + pair.b.framework,
         pair.a.metric, with_prefix(estimate(pair.a).value, pair.a.unit),
         with_prefix(estimate(pair.b).value, pair.b.unit), fmt::format("{:.3f}", pair.ratio),
         text_of_ratio(pair.interval), fmt::format("{:.2g}", pair.p_value), verdict_on(pair)});
  }
  add_means(table, pairs);
  return table;
}

}  // namespace d5

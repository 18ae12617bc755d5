// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluation_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <map>

#include "d5/core/error.hpp"
#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

/// By name: of several frameworks or models in one run the first.
std::map<std::string, detail::LayerTime> by_name(const AnalysedRun& run) {
  std::map<std::string, detail::LayerTime> layers;
  for (auto& layer : detail::layer_times(run)) layers.try_emplace(layer.name, layer);
  return layers;
}

bool meet(const Interval& a, const Interval& b) {
  return !(a.high < b.low || b.high < a.low);  // NaN: nothing is known
}

std::map<std::int64_t, bool> rights(std::span<const SampleAnswer> answers, const char* who) {
  std::map<std::int64_t, bool> right;
  for (const auto& [sample, answer, score] : answers) {
    if (!right.emplace(sample, score >= 0.5).second) {
      throw ValueError(fmt::format("{} answers sample {} twice", who, sample));
    }
  }
  return right;
}

std::string samples_text(const std::vector<std::int64_t>& samples) {
  constexpr std::size_t kMost = 20;
  const std::size_t shown = std::min(samples.size(), kMost);
  return fmt::format("{}{}",
                     fmt::join(samples.begin(), samples.begin() + std::ptrdiff_t(shown), " "),
                     shown < samples.size() ? " ..." : "");
}

}  // namespace

std::vector<LayerDifference> layer_differences(const AnalysedRun& a, const AnalysedRun& b) {
  const auto of_a = by_name(a), of_b = by_name(b);
  if (of_a.empty() || of_b.empty()) return {};
  std::vector<LayerDifference> differences;
  for (const auto& [name, layer] : of_a) {
    LayerDifference difference{.name = name, .type = layer.type, .a = layer.seconds.value};
    if (const auto other = of_b.find(name); other != of_b.end()) {
      difference.b = other->second.seconds.value;
      difference.is_sure = !meet(layer.seconds.interval, other->second.seconds.interval);
    }
    differences.push_back(difference);
  }
  for (const auto& [name, layer] : of_b) {
    if (of_a.contains(name)) continue;
    differences.push_back({.name = name, .type = layer.type, .b = layer.seconds.value});
  }
  double all = 0;
  for (const auto& one : differences) all += one.b - one.a;
  for (auto& one : differences) one.share_of_all = all == 0 ? 0 : (one.b - one.a) / all;
  std::ranges::stable_sort(differences, std::ranges::greater(),
                           [](const LayerDifference& one) { return std::abs(one.b - one.a); });
  return differences;
}

TextTable to_table(std::span<const LayerDifference> differences, std::size_t most) {
  using enum TextTable::Align;
  TextTable table({"layer",
                   "type",
                   {"A", right},
                   {"B", right},
                   {"B - A", right},
                   {"of the difference", right},
                   "verdict"});
  const auto seconds = [](double value) { return value == 0 ? "-" : with_prefix(value, "s"); };
  double a = 0, b = 0;
  for (const auto& one : differences) {
    a += one.a;
    b += one.b;
    if (table.size() >= most) continue;
    const char* verdict = one.a == 0     ? "in B alone"
                          : one.b == 0   ? "in A alone"
                          : !one.is_sure ? "within noise"
                                         : (one.b < one.a ? "faster" : "slower");
    table.add({one.name, one.type, seconds(one.a), seconds(one.b), with_prefix(one.b - one.a, "s"),
               fmt::format("{:.1f}%", 100 * one.share_of_all), verdict});
  }
  if (!differences.empty()) {
    table.add({"all together", "", seconds(a), seconds(b), with_prefix(b - a, "s"), "100%", ""});
  }
  return table;
}

AnswerDifference answer_difference(std::span<const SampleAnswer> a,
                                   std::span<const SampleAnswer> b) {
  const auto of_a = rights(a, "A"), of_b = rights(b, "B");
  AnswerDifference difference;
  for (const auto& [sample, right] : of_a) {
    const auto other = of_b.find(sample);
    if (other == of_b.end()) {
      ++difference.not_in_both;
    } else if (right && other->second) {
      ++difference.both_right;
    } else if (!right && !other->second) {
      ++difference.both_wrong;
    } else {
      (right ? difference.only_a : difference.only_b).push_back(sample);
    }
  }
  for (const auto& [sample, right] : of_b) difference.not_in_both += of_a.contains(sample) ? 0 : 1;
  const double flips = double(difference.only_a.size() + difference.only_b.size());
  if (flips > 0) {
    const double fewer = double(std::min(difference.only_a.size(), difference.only_b.size()));
    const boost::math::binomial_distribution<double> even(flips, 0.5);
    difference.p_value = std::min(1.0, 2 * boost::math::cdf(even, fewer));
  }
  return difference;
}

TextTable to_table(std::span<const NamedAnswerDifference> differences) {
  using enum TextTable::Align;
  TextTable table({"answers",
                   {"right in both", right},
                   {"wrong in both", right},
                   {"A alone right", right},
                   {"B alone right", right},
                   {"not in both", right},
                   {"McNemar's p", right},
                   "samples of A alone",
                   "samples of B alone"});
  for (const auto& [name, d] : differences) {
    table.add({name, std::to_string(d.both_right), std::to_string(d.both_wrong),
               std::to_string(d.only_a.size()), std::to_string(d.only_b.size()),
               d.not_in_both > 0 ? std::to_string(d.not_in_both) : "",
               fmt::format("{:.2g}", d.p_value), samples_text(d.only_a), samples_text(d.only_b)});
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5

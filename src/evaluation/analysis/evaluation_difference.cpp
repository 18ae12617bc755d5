// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/evaluation_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

/// Layers by name; among several frameworks or models in one run the first.
std::map<std::string, detail::LayerTime> by_name(std::span<const detail::LayerTime> all) {
  std::map<std::string, detail::LayerTime> layers;
  for (const auto& layer : all) layers.try_emplace(layer.name, layer);
  return layers;
}

bool meet(const Interval& a, const Interval& b) {
  return !(a.high < b.low || b.high < a.low);  // NaN: nothing is known
}

}  // namespace

std::vector<LayerDifference> layer_differences(const AnalysedRun& a, const AnalysedRun& b) {
  return detail::layer_differences(detail::layer_times(a), detail::layer_times(b));
}

std::vector<LayerDifference> detail::layer_differences(std::span<const LayerTime> a,
                                                       std::span<const LayerTime> b) {
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
                   {"share of difference", right},
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

}  // namespace d5

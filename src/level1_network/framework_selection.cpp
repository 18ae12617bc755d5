// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/framework_selection.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/error.hpp"
#include "d5/core/report.hpp"

namespace d5 {
namespace {

std::string number(double value, const std::string& unit, Format format) {
  return is_for_people(format) ? with_prefix(value, unit) : fmt::format("{}", value);
}

/// "1.27 [1.21, 1.33]", or the ratio alone where too few samples allow no interval.
std::string ratio_words(const Comparison& ratio) {
  if (ratio.pairs == 0) return "";
  const auto [low, high] = ratio.ratio_interval;
  if (!std::isfinite(low)) return fmt::format("{:.3g}", ratio.ratio);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", ratio.ratio, low, high);
}

}  // namespace

TextTable to_table(const FrameworkSelection& selection, Format format) {
  TextTable table({"node",
                   "operator",
                   "chosen",
                   {is_for_people(format) ? "time" : "seconds", TextTable::Align::right},
                   "runner-up",
                   {"runner-up/chosen", TextTable::Align::right}});
  for (const auto& node : selection.nodes) {
    table.add({printable(node.name), printable(node.op_type), node.framework,
               node.seconds > 0 ? number(node.seconds, "s", format) : "", node.runner_up,
               ratio_words(node.ratio)});
  }
  return table;
}

TextTable summary_table(const FrameworkSelection& selection, Format format) {
  TextTable table({"what", "value"});
  table.add({"chosen", selection.chosen});
  for (const auto& way : selection.ways) {
    table.add({way.name, fmt::format("{}, {} times the chosen one",
                                     number(way.seconds, "s", format), ratio_words(way.ratio))});
  }
  table.add({"reorders and copies", fmt::format("{}", selection.reorders)});
  for (const auto& [framework, reason] : selection.refusals) {
    table.add({"refused: " + framework, reason});
  }
  for (const auto& note : selection.notes) table.add({"note", note});
  table.add({"measured", fmt::format("{} in {:.3g} s", selection.kept ? "earlier" : "now",
                                     selection.measuring_seconds)});
  return table;
}

}  // namespace d5

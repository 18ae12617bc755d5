// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/mixture/framework_selection.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"

namespace d5 {
namespace {

std::string number(double value, const std::string& unit, Format format) {
  return is_for_people(format) ? with_prefix(value, unit) : fmt::format("{}", value);
}

/// "1.27 [1.21, 1.33]", or the ratio alone if there are too few samples for an interval.
std::string ratio_words(const Comparison& ratio) {
  if (ratio.pairs == 0) return "";
  const auto [low, high] = ratio.ratio_interval;
  if (!std::isfinite(low)) return fmt::format("{:.3g}", ratio.ratio);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", ratio.ratio, low, high);
}

}  // namespace

TextTable to_table(const FrameworkSelection& selection, Format format) {
  constexpr auto kRight = TextTable::Align::right;
  const bool for_people = is_for_people(format);
  // For people: what is chosen for the whole may be another way than d5's plan.
  std::vector<TextTable::Column> columns{"node",
                                         "operator",
                                         for_people ? "in d5's plan" : "chosen",
                                         {for_people ? "time" : "seconds", kRight},
                                         "runner-up"};
  if (for_people) {
    columns.push_back({"runner-up/plan", kRight});
  } else {
    for (const char* title : {"ratio", "ratio_low", "ratio_high"})
      columns.push_back({title, kRight});
  }
  TextTable table(columns);
  for (const auto& node : selection.nodes) {
    std::vector<std::string> row{printable(node.name), printable(node.op_type), node.framework,
                                 node.seconds > 0 ? number(node.seconds, "s", format) : "",
                                 node.runner_up};
    if (for_people) {
      row.push_back(ratio_words(node.ratio));
    } else {
      const auto [low, high] = node.ratio.ratio_interval;
      for (const double part : {node.ratio.ratio, low, high}) {
        const bool known = node.ratio.pairs > 0 && std::isfinite(part);
        row.push_back(known ? fmt::format("{}", part) : "");
      }
    }
    table.add(std::move(row));
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
  table.add({"reorders and copies in d5's plan", fmt::format("{}", selection.reorders)});
  if (selection.draws > 0) {
    table.add({"judged on", selection.draws == 1
                                ? "what it was fed"
                                : fmt::format("{} draws of random inputs", selection.draws)});
  }
  for (const auto& [framework, reason] : selection.refusals) {
    table.add({"refused: " + framework, reason});
  }
  for (const auto& note : selection.notes) table.add({"note", note});
  table.add({"measured", fmt::format("{} in {:.3g} s", selection.kept ? "earlier" : "now",
                                     selection.measuring_seconds)});
  return table;
}

}  // namespace d5

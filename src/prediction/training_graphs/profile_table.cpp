// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training_graphs/profile_table.hpp"

#include <fmt/format.h>

#include <map>

#include "d5/core/results/results.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {
namespace {

using Align = TextTable::Align;

/// Kinds in the order of their first run, with number and total time in a step.
std::vector<std::pair<std::string, std::pair<int, double>>> sums_of(const TrainingProfile& profile,
                                                                    const StepTimes& times) {
  std::vector<std::pair<std::string, std::pair<int, double>>> sums;
  const auto add = [&](const std::string& kind, double seconds) {
    for (auto& [name, sum] : sums) {
      if (name != kind) continue;
      ++sum.first;
      sum.second += seconds;
      return;
    }
    sums.push_back({kind, {1, seconds}});
  };
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    add(profile.pieces[i].kind, times.seconds[i]);
  }
  for (const double gap : times.gaps) add("overhead", gap);
  return sums;
}

}  // namespace

TextTable profile_table(const TrainingProfile& profile, Format format) {
  TextTable table({{"batch", Align::right},
                   "what",
                   {"pieces", Align::right},
                   {"time", Align::right},
                   {"share", Align::right},
                   "note"});
  const auto time = [&](double seconds) {
    return is_for_people(format) ? with_prefix(seconds, "s") : fmt::format("{}", seconds);
  };
  for (const auto& batch : profile.batches) {
    const StepTimes times = step_times(profile, batch.batch);
    const std::string size = std::to_string(batch.batch);
    for (const auto& [kind, sum] : sums_of(profile, times)) {
      table.add({size, kind, std::to_string(sum.first), time(sum.second),
                 fmt::format("{:.1f}%", 100 * sum.second / times.step), ""});
    }
    const double scheduled = schedule(one_rank_graph(profile, batch.batch)).seconds;
    table.add({size, "step, scheduled", "", time(scheduled), "", "its graph on one rank"});
    const bool told = profile.machine.empty();  // estimated from costs
    table.add({size, told ? "step, estimated" : "step, observed",
               std::to_string(batch.steps.size()), time(summarise(batch.steps).median), "",
               told ? "" : "median"});
    if (batch.unobserved.empty()) continue;
    const double median = summarise(batch.unobserved).median;
    std::string note = fmt::format("median; scheduled {:+.2f}%", 100 * (scheduled / median - 1));
    if (batch.steps.size() == batch.unobserved.size()) {
      const Comparison cost = compare(batch.steps, batch.unobserved);
      note +=
          fmt::format("; observing {:+.2f}% ({:+.2f} to {:+.2f}%)", 100 * (cost.ratio - 1),
                      100 * (cost.ratio_interval.low - 1), 100 * (cost.ratio_interval.high - 1));
    }
    if (batch.recording > 0) {
      note += fmt::format("; marks take {:.3f}%", 100 * batch.recording / median);
    }
    table.add({size, "step, unobserved", std::to_string(batch.unobserved.size()), time(median), "",
               note});
  }
  return table;
}

}  // namespace d5

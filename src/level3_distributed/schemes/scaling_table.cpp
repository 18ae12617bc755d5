// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/scaling_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

constexpr const char* kCommunication = "communication_time";

/// The number of ranks of a run; 1 without a launcher.
int ranks_of(const Measurement& m) { return int(condition_number(m, "ranks").value_or(1)); }

/// The key of a training: common to runs on different ranks and to the metrics of a run.
std::string training_of(const Measurement& m) { return m.subject + '\n' + m.framework; }
std::string run_of(const Measurement& m) {
  return training_of(m) + '\n' + condition_of(m, "ranks") + '\n' + condition_of(m, "distributed") +
         '\n' + condition_of(m, "all_reduce") + '\n' + condition_of(m, "scaling");
}

double value_of(const Measurement& m) { return estimate(m).value; }

/// Whether the samples sum to the run's total time, which includes communication.
bool is_of_the_run(const Measurement& m) { return m.metric == "time" || m.metric == "epoch_time"; }

double sum_of(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

/// Speed-up and efficiency of more ranks.
struct Gain {
  double speed_up, efficiency;
};
Gain gain_of(const Measurement& run, const Measurement& base) {
  const double ranks = double(ranks_of(run)) / ranks_of(base);
  const double work = condition_of(run, "scaling") == "weak" ? ranks : 1;
  const double speed_up = work * value_of(base) / value_of(run);
  return {speed_up, speed_up / ranks};
}

/// Times by training and metric, each sorted by number of ranks.
std::vector<std::vector<const Measurement*>> series_in(const std::vector<Measurement>& all) {
  std::vector<std::vector<const Measurement*>> series;
  std::map<std::string, std::size_t> places;
  for (const auto& m : all) {
    const bool is_time = m.quantity == Quantity::time && m.metric != kCommunication;
    if (!is_time || m.samples.empty() || m.conditions.contains("rank")) continue;
    const auto [place, fresh] = places.try_emplace(training_of(m) + '\n' + m.metric, series.size());
    if (fresh) series.emplace_back();
    series[place->second].push_back(&m);
  }
  for (auto& one : series) {
    std::ranges::stable_sort(one, {}, [](const Measurement* m) { return ranks_of(*m); });
  }
  std::erase_if(series,
                [](const auto& one) { return ranks_of(*one.front()) == ranks_of(*one.back()); });
  return series;
}

}  // namespace

TextTable scaling_table(const std::vector<Measurement>& measurements) {
  const auto all = series_in(measurements);
  if (all.empty()) {
    throw ValueError(
        "no time was measured on two numbers of ranks; give the results of two runs, as 'd5 train "
        "R "
        "--out one.json' and 'mpirun -np 2 d5 train R --out two.json' write them");
  }
  std::map<std::string, const Measurement*> communication;
  for (const auto& m : measurements) {
    if (m.metric == kCommunication && !m.samples.empty()) communication[run_of(m)] = &m;
  }
  using enum TextTable::Align;
  TextTable table({"subject",
                   "framework",
                   "metric",
                   "all_reduce",
                   {"ranks", right},
                   {"value", right},
                   {"speed-up", right},
                   {"efficiency", right},
                   {"communication", right},
                   {"share", right},
                   "status"});
  for (const auto& series : all) {
    const Measurement& base = *series.front();
    for (const Measurement* m : series) {
      const Gain gain = gain_of(*m, base);
      const bool is_base = ranks_of(*m) == ranks_of(base);
      const auto exchange = communication.find(run_of(*m));
      const bool told = is_of_the_run(*m) && exchange != communication.end();
      const double seconds = told ? value_of(*exchange->second) : 0;
      table.add({m->subject, m->framework, m->metric, condition_of(*m, "all_reduce"),
                 fmt::format("{}", ranks_of(*m)), with_prefix(value_of(*m), m->unit),
                 is_base ? "" : fmt::format("{:.2f}", gain.speed_up),
                 is_base ? "" : fmt::format("{:.2f}", gain.efficiency),
                 told ? with_prefix(seconds, "s") : "",
                 told ? fmt::format("{:.3f}", seconds / sum_of(m->samples)) : "",
                 std::string(name_of(m->status))});
    }
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_repetition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/results/inherited_doubt.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/statistics/student.hpp"

namespace d5 {
namespace {

constexpr int kMostFailures = 1;

void check(const std::vector<RepeatedTraining>& trainings, const RepetitionOptions& options) {
  const bool in_range = options.runs >= 0 && options.fewest >= 2 &&
                        options.most >= options.fewest && options.half_width > 0;
  if (in_range && !trainings.empty()) return;
  throw ValueError(fmt::format(
      "repeat: {} trainings, {} runs, from {} to {}, half width {}; expected a training, no number "
      "below 0, at least 2 runs that tell when to end, and a half width above 0",
      trainings.size(), options.runs, options.fewest, options.most, options.half_width));
}

const Measurement* find(const std::vector<Measurement>& records, std::string_view metric) {
  const auto place = std::ranges::find(records, metric, &Measurement::metric);
  return place == records.end() ? nullptr : &*place;
}

/// The record of another run that corresponds to `first`; if each rank has a record, the same
/// rank's.
const Measurement* find_like(const std::vector<Measurement>& records, const Measurement& first) {
  const auto place = std::ranges::find_if(records, [&](const Measurement& record) {
    return record.metric == first.metric &&
           condition_of(record, "rank") == condition_of(first, "rank");
  });
  return place == records.end() ? nullptr : &*place;
}

/// The metric whose mean is to be estimated.
const Measurement* deciding(const std::vector<Measurement>& records, const std::string& metric) {
  if (!metric.empty()) return find(records, metric);
  for (const char* usual : {"time_to_accuracy", "test_accuracy", "epoch_time"}) {
    if (const Measurement* record = find(records, usual)) return record;
  }
  return nullptr;
}

bool has_failed(const std::vector<Measurement>& records) {
  return std::ranges::any_of(records,
                             [](const Measurement& one) { return one.status == Status::failed; });
}

std::vector<double> decided(const RepeatedRuns& runs, const std::string& metric) {
  std::vector<double> values;
  for (const auto& records : runs.records) {
    const Measurement* record = deciding(records, metric);
    if (record && !record->samples.empty()) values.push_back(estimate(*record).value);
  }
  return values;
}

/// The half-width of the interval relative to the mean; NaN if unknown.
double half_width(const RepeatedRuns& runs, const std::string& metric) {
  const Estimate mean = mean_with_interval(decided(runs, metric));
  return (mean.interval.high - mean.interval.low) / 2 / std::fabs(mean.value);
}

bool is_done(const std::vector<RepeatedRuns>& all, const RepetitionOptions& options) {
  const auto made = std::int64_t(all.front().records.size());
  if (options.runs > 0) return made >= options.runs;
  if (made < options.fewest) return false;
  return made >= options.most || std::ranges::all_of(all, [&](const RepeatedRuns& runs) {
           return half_width(runs, options.metric) <= options.half_width;
         });
}

void say_run(const RepetitionOptions& options, const std::string& name, const RepeatedRuns& runs) {
  if (!options.say) return;
  std::string line = fmt::format("run {}", runs.records.size());
  if (options.runs > 0) line += fmt::format(" of {}", options.runs);
  line += fmt::format(", seed {}", runs.seeds.back());
  if (!name.empty()) line += fmt::format(", {}", printable(name));
  if (const Measurement* record = deciding(runs.records.back(), options.metric)) {
    line += fmt::format(": {} ", record->metric);
    line += record->samples.empty() ? "not reached"
                                    : with_prefix(estimate(*record).value, record->unit);
  }
  const double width = half_width(runs, options.metric);
  if (std::isfinite(width)) line += fmt::format("; mean known to {:.1f}%", 100 * width);
  options.say(line);
}

/// The records of one metric, one per run; a run that ended early may have none.
struct Joined {
  std::vector<const Measurement*> records;
  std::vector<double> samples, converged;
  std::vector<std::string> failures;
  bool is_tolerated = false;  ///< whatever the failures are
};

/// Whether a run ended early, as after a NaN loss.
bool broke_off(const std::vector<Measurement>& records) {
  return std::ranges::all_of(records,
                             [](const Measurement& one) { return one.status == Status::failed; });
}

/// Throws: NotFound for a metric that a run that did not end early does not have.
void expect_metric(const std::vector<Measurement>& records, const std::string& metric) {
  if (metric.empty() || records.empty() || find(records, metric) || broke_off(records)) return;
  std::vector<std::string> names;
  for (const Measurement& record : records) names.push_back(record.metric);
  throw_unknown_name("metric of a training", metric, names);
}

Joined join(const RepeatedRuns& runs, const Measurement& first) {
  Joined result;
  result.is_tolerated = runs.compared && std::ranges::none_of(runs.records, broke_off);
  for (std::size_t run = 0; run < runs.records.size(); ++run) {
    const Measurement* record = find_like(runs.records[run], first);
    if (!record) continue;
    result.records.push_back(record);
    const bool failed = record->status == Status::failed;
    if (failed) {
      result.failures.push_back(fmt::format("seed {}: {}", runs.seeds[run], record->reason));
    }
    if (!record->samples.empty()) {
      result.samples.push_back(estimate(*record).value);
      if (!failed) result.converged.push_back(result.samples.back());
    } else if (failed && record->direction == Direction::lower_is_better) {
      result.samples.push_back(INFINITY);
    }
  }
  return result;
}

/// Sets the worst status of the runs, with the number of runs that failed.
void conclude(Measurement& result, const Joined& joined) {
  result.status = Status::passed;
  result.reason.clear();
  for (const Measurement* record : joined.records) {
    if (record->status != Status::skipped && record->status != Status::unsupported) continue;
    result.status = record->status;
    result.reason = record->reason;
  }
  for (const Measurement* record : joined.records) detail::inherit_doubt(result, *record);
  if (joined.failures.empty()) return;
  const std::string failures =
      fmt::format("{} of {} runs did not converge, {}", joined.failures.size(),
                  joined.records.size(), joined.failures.front());
  const bool few = joined.failures.size() <= kMostFailures && joined.records.size() >= 3;
  const bool tolerated = few || joined.is_tolerated;
  if (tolerated && result.status == Status::mistrusted) return mistrust(result, failures);
  result.status = tolerated ? Status::mistrusted : Status::failed;
  result.reason = failures;
}

/// Adds "at least 0.9, missed by 2 of 3 runs", for runs without a verdict.
void count_missed(Measurement& result, const Joined& joined) {
  constexpr std::string_view kMissed = ", missed";
  std::string words;
  std::size_t missed = 0;
  for (const Measurement* record : joined.records) {
    const auto place = record->conditions.find("accepted");
    if (place == record->conditions.end() || !place->second.text().ends_with(kMissed)) {
      continue;
    }
    words = place->second.text();
    ++missed;
  }
  if (missed == 0) return;
  result.conditions["accepted"] =
      finding(fmt::format("{} by {} of {} runs", words, missed, joined.records.size()));
}

void describe(Measurement& result, const RepeatedRuns& runs, const Joined& joined) {
  // Conditions that differ from run to run do not apply to all.
  for (const Measurement* record : joined.records) {
    std::erase_if(result.conditions, [&](const auto& condition) {
      const auto place = record->conditions.find(condition.first);
      return place == record->conditions.end() || place->second != condition.second;
    });
  }
  count_missed(result, joined);
  auto& conditions = result.conditions;
  conditions["runs"] = finding(joined.records.size());
  conditions["seeds"] = finding(fmt::format("{} to {}", runs.seeds.front(), runs.seeds.back()));
  conditions.erase("seed");
  conditions["converged"] = finding(joined.records.size() - joined.failures.size());
  const Estimate mean = mean_with_interval(joined.converged);
  if (std::isfinite(mean.value)) conditions["mean"] = finding(mean.value, result.unit);
  if (std::isfinite(mean.interval.low)) {
    conditions["mean_low"] = finding(mean.interval.low, result.unit);
    conditions["mean_high"] = finding(mean.interval.high, result.unit);
  }
  const double olympic = olympic_mean(joined.samples);
  if (std::isfinite(olympic)) conditions["olympic_mean"] = finding(olympic, result.unit);
}

}  // namespace

std::vector<RepeatedRuns> repeat_trainings(const std::vector<RepeatedTraining>& trainings,
                                           const RepetitionOptions& options) {
  check(trainings, options);
  std::vector<RepeatedRuns> all(trainings.size());
  for (std::uint64_t seed = options.seed; !is_done(all, options); ++seed) {
    bool hopeless = false;
    for (std::size_t i = 0; i < trainings.size(); ++i) {
      std::vector<Measurement> records;
      try {
        records = trainings[i].train(seed);
      } catch (const Interrupted&) {  // while opening its data
        if (all[i].records.empty() || !options.interrupt.due()) throw;
      }
      if (options.interrupt.due()) {
        for (auto& runs : all) runs.interrupted = true;
        if (!all[i].records.empty()) return all;
      }
      all[i].seeds.push_back(seed);
      all[i].records.push_back(std::move(records));
      if (options.interrupt.due()) return all;
      expect_metric(all[i].records.back(), options.metric);
      say_run(options, trainings[i].name, all[i]);
      hopeless |= std::ranges::count_if(all[i].records, has_failed) > kMostFailures;
    }
    if (!hopeless || trainings.size() > 1) continue;  // a comparison is made of all
    if (options.say) options.say("a second run did not converge: the repetition ends");
    break;
  }
  return all;
}

std::vector<Measurement> join_runs(const RepeatedRuns& runs) {
  std::vector<Measurement> results;
  if (runs.records.empty()) return results;
  for (const Measurement& first : runs.records.front()) {
    const Joined joined = join(runs, first);
    Measurement& result = results.emplace_back(first);
    result.samples = joined.samples;
    if (result.statistic.of != Statistic::Of::rate) result.statistic = {};
    result.command += fmt::format(" --repeat {}", runs.records.size());
    conclude(result, joined);
    describe(result, runs, joined);
    if (runs.interrupted) mistrust(result, "interrupted: more runs were asked for");
  }
  return results;
}

Recipe with_seed(Recipe recipe, std::uint64_t seed) {
  if (recipe.training().seed != seed) recipe.set(fmt::format("training.seed={}", seed));
  return recipe;
}

std::vector<Measurement> repeat_training(const Recipe& recipe, RepetitionOptions options,
                                         const SessionOptions& session) {
  options.seed = recipe.training().seed;
  const RepeatedTraining training{.train = [&](std::uint64_t seed) {
    TrainingSession one(with_seed(recipe, seed), session, options.interrupt);
    return one.run(options.interrupt);
  }};
  return join_runs(repeat_trainings({training}, options).front());
}

}  // namespace d5

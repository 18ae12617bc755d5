// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "core/results/inherited_doubt.hpp"
#include "d5/core/measuring/ratio.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/level2_training/validation/training_validation.hpp"

namespace d5 {
namespace {

constexpr std::array<const char*, 6> kCompared{"test_accuracy",    "test_loss",
                                               "perplexity",       "samples_to_accuracy",
                                               "time_to_accuracy", "epoch_time"};

const Measurement* find(const std::vector<Measurement>& records, std::string_view metric) {
  const auto place = std::ranges::find(records, metric, &Measurement::metric);
  return place == records.end() ? nullptr : &*place;
}

/// -1: significantly lower, 1: significantly higher. The interval decides that is printed beside
/// it.
int difference(const Measurement& ratio) {
  const auto [low, high] = estimate(ratio).interval;
  if (high < 1) return -1;
  return low > 1 ? 1 : 0;
}

/// Names trainings with runs that have no number, for which there is no ratio of each pair; empty
/// if all have one.
std::string not_reached(const Measurement& a, const Measurement& b, const ComparedTraining& subject,
                        const ComparedTraining& base) {
  for (const auto& [record, name] : {std::pair{&a, subject.name}, std::pair{&b, base.name}}) {
    const auto runs = std::int64_t(condition_number(*record, "runs").value_or(0));
    const auto missing = runs - std::ranges::count_if(record->samples, [](double sample) {
                           return std::isfinite(sample);
                         });
    if (missing == 0 || record->samples.empty()) continue;
    return fmt::format("{} of {} runs of {} have no {}", missing, runs, name, record->metric);
  }
  return "";
}

/// A run, and its repetition with the same seed.
class TwinRuns {
 public:
  TwinRuns(Recipe recipe, const SessionOptions& session, const Interrupt& interrupt)
      : recipe_(std::move(recipe)), session_(session), interrupt_(interrupt) {}

  std::vector<Measurement> train(std::uint64_t seed) {
    auto one = std::make_unique<TrainingSession>(with_seed(recipe_, seed), session_, interrupt_);
    auto records = one->run(interrupt_);
    if (!first_) {
      first_ = std::move(one);
      seed_ = seed;
    }
    return records;
  }

  Measurement reproducibility(const Measurement& form) {
    TrainingSession again(with_seed(recipe_, seed_), session_, interrupt_);
    (void)again.run(interrupt_);
    return reproducibility_record(form, first_->network(), again.network());
  }

 private:
  Recipe recipe_;
  const SessionOptions& session_;
  Interrupt interrupt_;
  std::unique_ptr<TrainingSession> first_;
  std::uint64_t seed_ = 0;
};

}  // namespace

std::vector<Measurement> compare_trainings(const ComparedTraining& subject,
                                           const ComparedTraining& base) {
  const auto mine = join_runs(subject.runs), its = join_runs(base.runs);
  std::vector<Measurement> results;
  bool better = false, worse = false;
  for (const char* metric : kCompared) {
    const Measurement *a = find(mine, metric), *b = find(its, metric);
    if (!a || !b) continue;
    Measurement& ratio = results.emplace_back(ratio_record(*a, *b, {subject.name, base.name}));
    // The subject's findings do not apply to the ratio, except for the number of runs.
    std::erase_if(ratio.conditions, [](const auto& condition) {
      return condition.second.role == Role::finding && condition.first != "runs";
    });
    if (const auto unmeasured = not_reached(*a, *b, subject, base); !unmeasured.empty()) {
      ratio.samples.clear();
      ratio.status = Status::skipped;
      ratio.reason = unmeasured;
    }
    ratio.statistic = {.of = Statistic::Of::mean};
    ratio.conditions.erase("rank test p");
    const double p = differs_p_value(ratio.samples, 1);
    if (std::isfinite(p)) ratio.conditions["p"] = finding(p, "1");
    const int sign = difference(ratio);
    ratio.conditions["verdict"] = finding(sign == 0 ? "undecided" : sign > 0 ? "higher" : "lower");
    const bool more_is_better = a->direction == Direction::higher_is_better;
    better |= sign == (more_is_better ? 1 : -1);
    worse |= sign == (more_is_better ? -1 : 1);
  }
  if (results.empty()) return results;
  Measurement verdict = results.front();
  verdict.metric = "trade_off";
  verdict.quantity = Quantity::other;
  verdict.direction = Direction::higher_is_better;
  verdict.statistic = {.of = Statistic::Of::single};
  verdict.status = Status::passed;
  verdict.reason.clear();
  verdict.samples = {double(better) - double(worse)};
  verdict.conditions.erase("p");
  verdict.conditions["verdict"] = finding(better && worse ? "trade-off"
                                          : better        ? "better"
                                          : worse         ? "worse"
                                                          : "undecided");
  for (const auto& ratio : results) detail::inherit_doubt(verdict, ratio, ratio.metric);
  results.push_back(std::move(verdict));
  return results;
}

std::string verdict_of(const std::vector<Measurement>& comparison, const std::string& subject,
                       const std::string& base) {
  const Measurement* verdict = find(comparison, "trade_off");
  const std::string who = fmt::format("{} against {}: ", subject, base);
  if (!verdict) return who + "nothing that both measured can be compared";
  std::string words = who + condition_of(*verdict, "verdict");
  for (const Measurement& one : comparison) {
    if (&one == verdict) continue;
    const std::string metric = one.metric.substr(0, one.metric.rfind("_ratio"));
    words += fmt::format("; {} {}", metric, condition_of(one, "verdict"));
  }
  return words + (verdict->status == Status::mistrusted ? "; this verdict is mistrusted" : "");
}

std::vector<Measurement> test_training(const Recipe& subject, const Recipe& base,
                                       RepetitionOptions options, const SessionOptions& session) {
  options.seed = subject.training().seed;
  TwinRuns mine(subject, session, options.interrupt), its(base, session, options.interrupt);
  auto runs = repeat_trainings(
      {{.name = subject.name(), .train = [&](std::uint64_t seed) { return mine.train(seed); }},
       {.name = base.name(), .train = [&](std::uint64_t seed) { return its.train(seed); }}},
      options);
  const ComparedTraining a{subject.name(), std::move(runs[0])}, b{base.name(), std::move(runs[1])};
  std::vector<Measurement> results;
  const auto append = [&](std::vector<Measurement> more) {
    std::ranges::move(more, std::back_inserter(results));
  };
  append(join_runs(a.runs));
  append(join_runs(b.runs));
  append(compare_trainings(a, b));
  if (options.interrupt.due() || b.runs.records.empty()) return results;
  append({mine.reproducibility(a.runs.records.front().front()),
          its.reproducibility(b.runs.records.front().front())});
  return results;
}

}  // namespace d5

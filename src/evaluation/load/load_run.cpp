// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/load_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "evaluation/load/conclusion.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kLookUp = 50'000'000;  ///< ns between two looks for an interrupt
constexpr int kRunBits = 36;                  ///< low bits of a query's id: its number in the run

}  // namespace

void expect_fitting(const SystemUnderTest& system, const ScenarioOptions& options,
                    std::int64_t per_query) {
  const auto expect = [&](bool fits, const std::string& given, const char* expected) {
    if (!fits) throw ValueError(fmt::format("scenario: {}, expected {}", given, expected));
  };
  expect(system.samples() > 0, fmt::format("{} has no samples", printable(system.name())),
         "one or more");
  expect(options.least_seconds >= 0 && options.most_seconds > 0 &&
             options.least_seconds <= options.most_seconds,
         fmt::format("it lasts from {} to {} s", options.least_seconds, options.most_seconds),
         "0 or more, and a most that is not below the least");
  expect(options.least_queries >= 1 && options.least_queries <= options.most_queries &&
             double(options.most_queries) * double(per_query) < double(std::int64_t{1} << kRunBits),
         fmt::format("it asks {} to {} queries", options.least_queries, options.most_queries),
         "1 or more, and a most that is not below the least");
  expect(options.percentile >= 0 && options.percentile < 1,
         fmt::format("percentile is {}", options.percentile), "a number below 1, such as 0.99");
  expect(options.answer_seconds > 0 && options.deadline_seconds >= 0 &&
             options.latency_seconds >= 0 && options.most_in_flight >= 0 &&
             options.performance_samples >= 0,
         "a time or a number is below 0", "0 or more, and time for answers");
  expect(options.keep_answers >= 0 && options.keep_answers <= 1,
         fmt::format("share of kept answers is {}", options.keep_answers), "0 to 1");
}

struct LoadRun::Shared {
  /// A query's number in its run.
  static std::int64_t number_of(std::int64_t id) {
    return id & ((std::int64_t{1} << kRunBits) - 1);
  }

  Shared(std::int64_t most, std::int64_t ready, std::shared_ptr<LoadClock> its_clock)
      : log(most, ready), clock(std::move(its_clock)) {}

  void hear(std::span<const QueryAnswer> answers) {
    const std::int64_t now = clock->now();
    std::int64_t first_ones = 0;
    for (const QueryAnswer& answer : answers) {
      if (answer.id >> kRunBits != run) continue;  // answer to an earlier run
      const std::int64_t id = number_of(answer.id);
      if (!log.answer(id, answer, now, is_in_share(keep, id))) continue;
      ++first_ones;
      if (!tell) continue;
      const std::lock_guard lock(mutex);
      told.push_back(id);
    }
    settle(first_ones);
  }
  void hear(std::span<const QueryProgress> pieces) {
    const std::int64_t now = clock->now();
    for (const QueryProgress& piece : pieces) {
      if (piece.id >> kRunBits != run) continue;  // piece of an earlier run
      (void)log.progress(number_of(piece.id), piece, now);
    }
  }
  void refuse(std::int64_t first, const char* reason) {
    const auto refused = log.refuse(first, reason, clock->now());
    if (tell) {
      const std::lock_guard lock(mutex);
      told.insert(told.end(), refused.begin(), refused.end());
    }
    settle(std::int64_t(refused.size()));
  }
  /// Counts `count` more answered queries. A waiting thread sets `wake_at` before it reads
  /// `unanswered`; this function does the reverse.
  void settle(std::int64_t count) {
    if (count && unanswered.fetch_sub(count) - count <= wake_at) clock->wake();
  }

  QueryLog log;
  const std::shared_ptr<LoadClock> clock;
  const std::int64_t run = [] {
    static std::atomic<std::int64_t> runs = 0;
    return ++runs;
  }();
  double keep = 0;
  bool tell = false;
  static constexpr std::int64_t kNever = -1, kAny = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> unanswered = 0, wake_at = kNever;
  std::mutex mutex;
  std::vector<std::int64_t> told;
};

LoadRun::LoadRun(SystemUnderTest& system, const ScenarioOptions& scenario, const Options& options)
    : system_(system),
      scenario_(scenario),
      options_(options),
      samples_(scenario.seed, stream_of("samples")) {
  using Mode = ScenarioOptions::Mode;
  expect_fitting(system, scenario, options.samples_per_query);
  clock_ = scenario.clock ? scenario.clock : monotonic_load_clock();
  range_ = system.samples();
  most_ = scenario.most_queries;
  if (scenario.mode == Mode::accuracy) {
    most_ = (range_ + options.samples_per_query - 1) / options.samples_per_query;
  } else if (scenario.performance_samples > 0) {
    range_ = std::min(range_, scenario.performance_samples);
  }
  patience_ = nanoseconds(scenario.answer_seconds);
  system_.load(samples_to_load());
  shared_ = std::make_shared<Shared>(most_ * options.samples_per_query,
                                     scenario.least_queries * options.samples_per_query, clock_);
  shared_->keep = scenario.mode == Mode::accuracy ? 1 : scenario.keep_answers;
  shared_->tell = options.tell_answered;
  system_.on_complete(
      [shared = shared_](std::span<const QueryAnswer> answers) { shared->hear(answers); },
      [shared = shared_](std::span<const QueryProgress> pieces) { shared->hear(pieces); });
  start_ = clock_->now();
}

/// The samples that the run will draw if its number of queries is fixed; otherwise all that it may
/// draw.
std::vector<std::int64_t> LoadRun::samples_to_load() const {
  std::vector<std::int64_t> samples;
  const std::int64_t draws = scenario_.least_queries * options_.samples_per_query;
  const bool draws_few = scenario_.mode == ScenarioOptions::Mode::performance &&
                         scenario_.least_seconds <= 0 && !options_.chooses && draws < range_;
  if (!draws_few) {
    samples.resize(static_cast<std::size_t>(range_));
    std::iota(samples.begin(), samples.end(), 0);
    return samples;
  }
  RandomStream ahead = samples_;
  for (std::int64_t i = 0; i < draws; ++i) {
    samples.push_back(std::int64_t(ahead.below(std::uint64_t(range_))));
  }
  std::ranges::sort(samples);
  const auto [first, last] = std::ranges::unique(samples);
  samples.erase(first, last);
  return samples;
}

LoadRun::~LoadRun() {
  system_.on_complete({});
  shared_->log.close();
}

bool LoadRun::goes_on(std::int64_t scheduled) {
  if (asked_ >= most_) return false;
  if (scenario_.mode == ScenarioOptions::Mode::accuracy) return true;
  const std::int64_t since = scheduled - start_;
  is_out_of_time_ = since > nanoseconds(scenario_.most_seconds);
  if (is_out_of_time_) return false;
  return asked_ < scenario_.least_queries || since < nanoseconds(scenario_.least_seconds);
}

void LoadRun::wait_until(std::int64_t until) {
  scenario_.interrupt.check("scenario");
  clock_->wait_until(scenario_.interrupt.possible() ? std::min(until, now() + kLookUp) : until);
}

bool LoadRun::wait_for_turn(std::int64_t scheduled) {
  while (now() < scheduled) wait_until(scheduled);
  overdue_ = now() - start_ > nanoseconds(scenario_.most_seconds + scenario_.answer_seconds);
  if (overdue_) return false;
  const std::int64_t bound = scenario_.most_in_flight * options_.samples_per_query;
  return bound == 0 || wait_for(bound - options_.samples_per_query);
}

bool LoadRun::wait_for(std::int64_t unanswered, std::int64_t until) {
  shared_->wake_at = unanswered;
  bool there;
  while (!(there = shared_->unanswered <= unanswered) && now() < until) wait_until(until);
  shared_->wake_at = Shared::kNever;
  return there;
}

void LoadRun::wait_for_answer(std::int64_t until) {
  shared_->wake_at = Shared::kAny;
  const auto silent = [&] {
    const std::lock_guard lock(shared_->mutex);
    return shared_->told.empty();
  };
  while (silent() && now() < until) wait_until(until);
  shared_->wake_at = Shared::kNever;
}

void LoadRun::answered(std::vector<std::int64_t>& ids) {
  ids.clear();
  const std::lock_guard lock(shared_->mutex);
  std::swap(ids, shared_->told);
}

void LoadRun::ask(std::int64_t scheduled, const SessionTurn& place, const DrawnText* text) {
  chosen_.clear();
  const std::int64_t first = shared_->log.size();
  for (std::int64_t i = 0; i < options_.samples_per_query; ++i) {
    const bool drawn = scenario_.mode == ScenarioOptions::Mode::performance;
    const std::int64_t sample =
        drawn ? std::int64_t(samples_.below(std::uint64_t(range_))) : first + i;
    if (sample < range_) chosen_.push_back(sample);  // the last of an accuracy run may be smaller
  }
  ask_chosen(scheduled, place, text);
}

void LoadRun::ask_for(std::int64_t sample, std::int64_t scheduled) {
  chosen_.assign(1, sample);
  ask_chosen(scheduled);
}

void LoadRun::ask_chosen(std::int64_t scheduled, const SessionTurn& place, const DrawnText* text) {
  const std::int64_t first = shared_->log.size(), issued = now();
  queries_.clear();
  for (const std::int64_t sample : chosen_) {
    const std::int64_t id = shared_->log.size();
    queries_.push_back(
        {.id = (shared_->run << kRunBits) + id, .sample = sample, .place = place, .text = text});
    shared_->log.add(sample, scheduled, issued);
  }
  ++asked_;
  shared_->unanswered += std::int64_t(queries_.size());
  try {
    system_.issue(queries_);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    shared_->refuse(first, error.what());
  }
}

ScenarioResult LoadRun::end(const Findings& findings) {
  system_.flush();
  wait_for(0);
  system_.on_complete({});
  shared_->log.close();
  system_.unload();
  ScenarioResult result;
  result.samples_per_query = options_.samples_per_query;
  result.latency_from = options_.latency_from;
  result.settles = options_.settles;
  result.percentile = options_.percentile;
  result.conditions.merge(clock_->conditions());
  take_log(shared_->log.take(), scenario_, result);
  take_report(system_.report(), result);
  if (findings) take_report(findings(result), result);
  check_deadline(scenario_, result);
  const bool all = scenario_.mode == ScenarioOptions::Mode::accuracy;
  const std::int64_t least = all ? most_ : scenario_.least_queries;
  if (overdue_) {
    invalidate(result, fmt::format("asking took more than {:g} s longer than its schedule",
                                   scenario_.answer_seconds));
  } else if (asked_ < least) {
    std::string why;
    if (is_out_of_time_) {
      why = fmt::format(
          ": the next is due after {:g} s, the longest that a run lasts; ask at a higher rate, or "
          "for fewer",
          scenario_.most_seconds);
    }
    invalidate(result,
               fmt::format("{} queries were asked, expected {} or more{}", asked_, least, why));
  }
  conclude(result, scenario_);
  return result;
}

}  // namespace d5::detail

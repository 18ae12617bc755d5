// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/find_peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "evaluation/load/conclusion.hpp"
#include "evaluation/scenario/peak_bound.hpp"
#include "evaluation/scenario/peak_objective.hpp"

namespace d5 {
namespace {

using Verdict = PeakStep::Verdict;
using Ask = std::function<ScenarioResult(double, const ScenarioOptions&)>;

/// The options with what the objectives' intervals need.
PeakOptions checked(PeakOptions options) {
  if (options.objectives.empty()) {
    throw ValueError("find peak: no objective is given, expected one or more");
  }
  options.run.percentile = 0.99;
  options.run.latency_seconds = 0;  // a run that misses is no invalid one
  for (const PeakObjective& objective : options.objectives) {
    detail::expect_valid(objective, options.run.limits);
    options.run.least_queries =
        std::max(options.run.least_queries, detail::least_queries(objective));
    if (objective.of == PeakObjective::Of::latency) options.run.percentile = objective.percentile;
  }
  const bool fits = options.first_rate > 0 && options.lowest_rate > 0 &&
                    options.highest_rate >= options.first_rate && options.tolerance > 0 &&
                    options.longer >= 0 && options.most_seconds >= 0;
  if (fits) return options;
  throw ValueError(fmt::format(
      "find peak: rates from {} to {}, tolerance {}, {} times longer, in {} s; expected positive "
      "rates that ascend, a positive tolerance, and no negative time",
      options.first_rate, options.highest_rate, options.tolerance, options.longer,
      options.most_seconds));
}

class PeakSearch {
 public:
  PeakSearch(const Ask& ask, const PeakOptions& options) : ask_(ask), options_(checked(options)) {
    if (options_.most_seconds <= 0) return;
    const double limit = now_seconds() + options_.most_seconds;
    own_limit_ = limit < options_.run.interrupt.deadline;
    if (own_limit_) options_.run.interrupt.deadline = limit;
  }

  Peak search() {
    try {
      approach();
    } catch (const Interrupted&) {
      const Interrupt& interrupt = options_.run.interrupt;
      const bool by_limit = own_limit_ && now_seconds() >= interrupt.deadline;
      peak_.cut = by_limit
                      ? fmt::format("the search's time of {:g} s is over", options_.most_seconds)
                      : "interrupted";
    }
    return std::move(peak_);
  }

 private:
  void approach() {
    double rate = options_.first_rate;
    if (holds(rate)) {
      peak_.rate = rate;
      while (std::isinf(peak_.missed) && peak_.rate < options_.highest_rate) {
        rate = std::min(2 * peak_.rate, options_.highest_rate);
        (holds(rate) ? peak_.rate : peak_.missed) = rate;
      }
    } else {
      peak_.missed = rate;
      while (peak_.rate == 0 && rate / 2 >= options_.lowest_rate) {
        rate /= 2;
        (holds(rate) ? peak_.rate : peak_.missed) = rate;
      }
    }
    while (peak_.rate > 0 && std::isfinite(peak_.missed) &&
           peak_.missed > peak_.rate * (1 + options_.tolerance)) {
      rate = std::sqrt(peak_.rate * peak_.missed);
      (holds(rate) ? peak_.rate : peak_.missed) = rate;
    }
  }

  bool holds(double rate) {
    for (int again = 0; again <= options_.longer; ++again) {
      options_.run.interrupt.check("find peak");
      if (options_.on_asked) options_.on_asked(asked(rate, again));
      const PeakStep& step =
          peak_.steps.emplace_back(judged(rate, ask_(rate, detail::lengthened(options_, again))));
      if (options_.on_step) options_.on_step(step);
      if (step.verdict != Verdict::undecided) return step.verdict == Verdict::holds;
    }
    return false;
  }

  [[nodiscard]] PeakAsked asked(double rate, int again) const {
    PeakAsked asked{
        .rate = rate, .seconds = detail::seconds_of_run(options_, rate, again), .again = again};
    const bool missed = std::isfinite(peak_.missed);
    asked.left = detail::bound_from(
        options_, {.rate = peak_.rate, .missed = missed ? peak_.missed : 0, .next = rate});
    asked.left.rates -= 1;
    asked.left.runs -= again + 1;
    for (int done = 0; done <= again; ++done) {
      asked.left.seconds -= detail::seconds_of_run(options_, rate, done);
    }
    if (own_limit_) {  // ends this run, too
      const double limit = std::max(0.0, options_.run.interrupt.deadline - now_seconds());
      asked.seconds = std::min(asked.seconds, limit);
      asked.left.seconds = std::min(asked.left.seconds, limit - asked.seconds);
    }
    asked.left.seconds = std::max(0.0, asked.left.seconds);
    return asked;
  }

  PeakStep judged(double rate, const ScenarioResult& result) const {
    PeakStep step;
    step.rate = rate;
    if (result.status == Status::mistrusted) step.doubt = result.reason;
    const auto size = std::size_t(result.samples_per_query);
    step.queries = std::int64_t((result.queries.size() + size - 1) / size);
    step.verdict = Verdict::holds;
    for (const PeakObjective& objective : options_.objectives) {
      step.numbers.push_back(detail::number_of(result, objective));
    }
    if (result.status == Status::failed || result.queries.empty()) {
      step.verdict = Verdict::misses;
      step.reason = result.reason;
      return step;
    }
    for (std::size_t i = 0; i < step.numbers.size(); ++i) {
      const PeakObjective& objective = options_.objectives[i];
      const Measurement& number = step.numbers[i];
      const Verdict verdict = detail::verdict_of(result, objective, number);
      if (step.verdict == Verdict::holds || verdict == Verdict::misses) step.verdict = verdict;
    }
    return step;
  }

  const Ask& ask_;
  PeakOptions options_;
  bool own_limit_ = false;
  Peak peak_;
};

}  // namespace

void PeakOptions::declare(OptionList& options) {
  const OptionRange rate{.above = 0, .unit = "rate"};
  options.add("first_rate", first_rate, "first rate to try, in queries/s", rate);
  options.add("highest_rate", highest_rate, "highest rate to try", rate);
  options.add("lowest_rate", lowest_rate, "lowest rate to try", rate);
  options.add("tolerance", tolerance,
              "relative distance between the rate that holds and the one that misses",
              {.above = 0, .unit = "share"});
  options.add("longer", longer, "times that an undecided run is repeated 4 times as long",
              {.least = 0});
  options.add("most_seconds", most_seconds, "time limit of the search; 0: none",
              {.least = 0, .unit = "s"});
}

std::vector<std::string> doubts_of(const Peak& peak) {
  std::vector<std::string> doubts;
  for (const PeakStep& step : peak.steps) {
    const bool held = step.rate == peak.rate && step.verdict == Verdict::holds;
    const bool missed = step.rate == peak.missed && step.doubt != detail::kUnsettled;
    if ((held || missed) && !step.doubt.empty()) {
      doubts.push_back(fmt::format("at {}: {}", with_prefix(step.rate, "query/s"), step.doubt));
    }
  }
  return doubts;
}

PeakBound peak_bound(const PeakOptions& options) {
  const PeakOptions search = checked(options);
  PeakBound bound = detail::bound_from(search, {.next = search.first_rate});
  if (search.most_seconds > 0) bound.seconds = std::min(bound.seconds, search.most_seconds);
  return bound;
}

Peak find_peak(const Ask& ask, const PeakOptions& options) {
  return PeakSearch(ask, options).search();
}

}  // namespace d5

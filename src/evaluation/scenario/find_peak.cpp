// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/find_peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_summary.hpp"

namespace d5 {
namespace {

using Verdict = PeakStep::Verdict;
using Ask = std::function<ScenarioResult(double, const ScenarioOptions&)>;

class PeakSearch {
 public:
  PeakSearch(const Ask& ask, const PeakOptions& options) : ask_(ask), options_(options) {
    objective_ = std::exchange(options_.run.latency_seconds, 0);
    if (options_.run.percentile == 0) options_.run.percentile = 0.99;
    // Some ten queries are then expected above the percentile, so its interval has two ends.
    const auto least = std::int64_t(std::ceil(10 / (1 - options_.run.percentile)));
    options_.run.least_queries = std::max(options_.run.least_queries, least);
    const bool fits = objective_ > 0 && options_.first_rate > 0 &&
                      options_.highest_rate >= options_.first_rate && options_.tolerance > 0 &&
                      options_.longer >= 0;
    if (fits) return;
    throw ValueError(fmt::format(
        "find peak: objective {} s, rates from {} to {}, tolerance {}, {} times longer; expected a "
        "positive objective, rates that ascend, a positive tolerance",
        objective_, options_.first_rate, options_.highest_rate, options_.tolerance,
        options_.longer));
  }

  Peak search() {
    double rate = options_.first_rate;
    if (holds(rate)) {
      peak_.rate = rate;
      while (std::isinf(peak_.missed) && peak_.rate < options_.highest_rate) {
        rate = std::min(2 * peak_.rate, options_.highest_rate);
        (holds(rate) ? peak_.rate : peak_.missed) = rate;
      }
    } else {
      constexpr int kHalvings = 20;
      peak_.missed = rate;
      for (int i = 0; i < kHalvings && peak_.rate == 0; ++i) {
        rate /= 2;
        if (rate < options_.lowest_rate) break;
        (holds(rate) ? peak_.rate : peak_.missed) = rate;
      }
    }
    while (peak_.rate > 0 && std::isfinite(peak_.missed) &&
           peak_.missed > peak_.rate * (1 + options_.tolerance)) {
      rate = std::sqrt(peak_.rate * peak_.missed);
      (holds(rate) ? peak_.rate : peak_.missed) = rate;
    }
    return std::move(peak_);
  }

 private:
  bool holds(double rate) {
    ScenarioOptions run = options_.run;
    for (int i = 0; i <= options_.longer; ++i) {
      const PeakStep& step = peak_.steps.emplace_back(judged(rate, ask_(rate, run)));
      if (step.verdict != Verdict::undecided) return step.verdict == Verdict::holds;
      run.least_seconds = std::min(4 * run.least_seconds, run.most_seconds);
      run.least_queries = std::min(4 * run.least_queries, run.most_queries);
    }
    return false;
  }

  PeakStep judged(double rate, const ScenarioResult& result) const {
    PeakStep step;
    step.rate = rate;
    if (result.status == Status::mistrusted) step.doubt = result.reason;
    const auto size = std::size_t(result.samples_per_query);
    step.queries = std::int64_t((result.queries.size() + size - 1) / size);
    std::vector<double> latencies = query_latencies(result);
    if (result.status == Status::failed || latencies.empty()) {
      step.verdict = Verdict::misses;
      step.reason = result.reason;
      return step;
    }
    const Statistic percentile{.of = Statistic::Of::quantile, .quantile = options_.run.percentile};
    step.latency = estimate(latencies, percentile);
    const auto second = std::span(latencies).subspan(latencies.size() / 2);
    if (step.latency.interval.low > objective_) {
      step.verdict = Verdict::misses;
    } else if (step.latency.interval.high <= objective_ &&
               estimate(second, percentile).value <= objective_) {
      step.verdict = Verdict::holds;
    }
    return step;
  }

  const Ask& ask_;
  PeakOptions options_;
  double objective_;
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
}

Peak find_peak(const Ask& ask, const PeakOptions& options) {
  return PeakSearch(ask, options).search();
}

}  // namespace d5

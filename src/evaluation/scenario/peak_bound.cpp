// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/peak_bound.hpp"

#include <algorithm>
#include <cmath>

namespace d5::detail {
namespace {

/// All runs at one rate, if none before the last decides.
PeakBound bound_at(const PeakOptions& options, double rate) {
  PeakBound bound{.rates = 1, .runs = options.longer + 1};
  for (int again = 0; again <= options.longer; ++again) {
    bound.seconds += seconds_of_run(options, rate, again);
  }
  return bound;
}

void add(PeakBound& bound, const PeakBound& more, int times = 1) {
  bound.rates += times * more.rates;
  bound.runs += times * more.runs;
  bound.seconds += times * more.seconds;
}

void widen(PeakBound& bound, const PeakBound& other) {
  bound.rates = std::max(bound.rates, other.rates);
  bound.runs = std::max(bound.runs, other.runs);
  bound.seconds = std::max(bound.seconds, other.seconds);
}

/// Divisions between a rate that holds and one that misses: each takes the root of their ratio.
PeakBound bound_between(const PeakOptions& options, double rate, double missed) {
  PeakBound bound;
  const double roots = std::log2(std::log(missed / rate) / std::log1p(options.tolerance));
  // A lower rate takes longer to ask as many queries.
  add(bound, bound_at(options, rate), std::max(0, int(std::ceil(roots))));
  return bound;
}

}  // namespace

ScenarioOptions lengthened(const PeakOptions& options, int again) {
  ScenarioOptions run = options.run;
  for (int i = 0; i < again; ++i) {
    run.least_seconds = std::min(4 * run.least_seconds, run.most_seconds);
    run.least_queries = std::min(4 * run.least_queries, run.most_queries);
  }
  return run;
}

double seconds_of_run(const PeakOptions& options, double rate, int again) {
  const ScenarioOptions run = lengthened(options, again);
  return std::min(run.most_seconds, std::max(run.least_seconds, double(run.least_queries) / rate));
}

PeakBound bound_from(const PeakOptions& options, const PeakState& state) {
  if (state.rate > 0 && state.missed > 0) {
    return bound_between(options, state.rate, state.missed);
  }
  // Whichever rate of the ascent misses, or of the descent holds, ends it: the worst is the bound.
  PeakBound worst, so_far;
  if (state.missed == 0) {
    double held = state.rate;
    for (double rate = state.next; held < options.highest_rate;) {
      add(so_far, bound_at(options, rate));
      PeakBound ends = so_far;
      if (held > 0) add(ends, bound_between(options, held, rate));
      widen(worst, ends);
      held = rate;
      rate = std::min(2 * rate, options.highest_rate);
    }
    if (state.rate > 0) return worst;
    so_far = bound_at(options, state.next);  // the first rate, which may miss
  }
  for (double rate = state.missed == 0 ? state.next / 2 : state.next; rate >= options.lowest_rate;
       rate /= 2) {
    add(so_far, bound_at(options, rate));
    PeakBound ends = so_far;
    add(ends, bound_between(options, rate, 2 * rate));
    widen(worst, ends);
  }
  widen(worst, so_far);
  return worst;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/convergence_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/student.hpp"

namespace d5 {
namespace {

constexpr double kLevel = 0.05;

bool is_finite(double sample) { return std::isfinite(sample); }

void judge_one(Measurement& result, const std::vector<double>& reference) {
  if (result.samples.size() < 2 || !std::ranges::all_of(result.samples, is_finite)) return;
  const double mean = mean_with_interval(result.samples).value;
  const double expected = mean_with_interval(reference).value;
  const double faster = is_smaller_p_value(result.samples, reference);
  const double slower = is_smaller_p_value(reference, result.samples);
  result.conditions["reference_mean"] = finding(expected);
  result.conditions["reference_p"] = finding(std::min(faster, slower));
  if (faster < kLevel) {
    mistrust(result, fmt::format("the mean, {:.6g}, is below the reference's, {:.6g} (p = {:.2g}): "
                                 "is the same being trained?",
                                 mean, expected, faster));
  }
  if (slower >= kLevel) return;
  result.status = Status::failed;
  result.reason = fmt::format("the mean, {:.6g}, is above the reference's, {:.6g} (p = {:.2g})",
                              mean, expected, slower);
}

[[noreturn]] void throw_unmeasured(const Recipe& recipe) {
  throw ValueError(
      fmt::format("recipe '{0}' does not measure {1}, of which a reference is made; add "
                  "\"{1}: {{target: ACCURACY}}\" to its metrics",
                  printable(recipe.name()), kReferenceMetric));
}

}  // namespace

void judge_convergence(std::vector<Measurement>& joined, const Recipe& recipe) {
  for (Measurement& result : joined) {
    const auto place = recipe.reference().find(result.metric);
    if (place != recipe.reference().end()) judge_one(result, place->second);
  }
}

void expect_reference_metric(const Recipe& recipe) {
  const auto measured = recipe.names_below("metrics");
  if (std::ranges::find(measured, kReferenceMetric) == measured.end()) throw_unmeasured(recipe);
}

std::string with_reference(const Recipe& recipe, const std::vector<Measurement>& joined) {
  const auto place = std::ranges::find(joined, kReferenceMetric, &Measurement::metric);
  if (place == joined.end()) throw_unmeasured(recipe);
  const auto converged = std::ranges::count_if(place->samples, is_finite);
  if (converged < kFewestReferenceRuns || converged != std::ssize(place->samples)) {
    throw ValueError(fmt::format(
        "{} of {} runs of recipe '{}' converged; a reference is made of "
        "{} or more, all of which do",
        converged, place->samples.size(), printable(recipe.name()), kFewestReferenceRuns));
  }
  return recipe.text_with_reference(kReferenceMetric, place->samples);
}

}  // namespace d5

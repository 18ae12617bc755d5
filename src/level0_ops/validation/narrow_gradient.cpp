// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/narrow_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "d5/core/tensor/random.hpp"
#include "level0_ops/validation/differentiable_case.hpp"
#include "level0_ops/validation/narrow_slopes.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kSomeInputs = 64;  // sampled inputs of a larger Jacobian

/// Findings on an input's gradient.
struct Tally {
  double largest = 0;
  std::string where = {};
  std::set<std::size_t> sharp = {}, undefined = {};
  std::size_t compared = 0;

  template <class Name>
  void compare(NarrowSlopes& slopes, const NarrowSlopes::Factors& v, double slope,
               std::size_t place, const RandomStream& random, Name&& name) {
    NarrowSlopes::Finding found = slopes.judge(v, slope);
    if (!found.is_compared) {
      undefined.insert(place);
      return;
    }
    // A single wrong element suffices.
    if (!found.is_right && !found.is_sharp && where.empty()) {
      slopes.look_beside(v, slope, random, found);
    }
    ++compared;
    largest = worse(largest, found.error);
    if (found.is_sharp) sharp.insert(place);
    if (!found.is_right && where.empty()) where = name() + ": " + found.where;
  }
};

void compare_all(DifferentiableCase& function, std::size_t i, double step,
                 ForwardTolerance rounding, Tally& tally) {
  std::vector<std::vector<double>> rows;
  std::vector<double> v(function.output_elements());
  for (double& one : v) {
    one = 1;
    rows.push_back(function.gradient(i, v));
    one = 0;
  }
  for (std::size_t column = 0; column < function.start(i).size(); ++column) {
    NarrowSlopes slopes(function, i, column, step, rounding);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      tally.compare(slopes, {{row, 1}}, rows[row][column], column, RandomStream(column),
                    [&] { return fmt::format("output element {}, input {}[{}]", row, i, column); });
    }
  }
}

/// v^T J for a random v, by individual elements of the input: moving all together would meet kinks,
/// which a step of this size reaches from many points.
void compare_some(DifferentiableCase& function, std::size_t i, double step,
                  ForwardTolerance rounding, std::uint64_t seed, Tally& tally) {
  RandomStream random(seed, std::uint32_t(i));
  std::vector<double> v;
  NarrowSlopes::Factors factors;
  for (const double y : function.values()) {
    const double factor = random.normal_double();
    if (std::isfinite(y)) factors.emplace_back(v.size(), factor);
    v.push_back(std::isfinite(y) ? factor : 0);
  }
  const auto gradient = function.gradient(i, v);
  const std::vector<double>& x = function.start(i);
  std::set<std::size_t> columns;
  while (columns.size() < std::min(kSomeInputs, x.size())) columns.insert(random.below(x.size()));
  for (const std::size_t column : columns) {
    NarrowSlopes slopes(function, i, column, step, rounding);
    tally.compare(slopes, factors, gradient[column], column, RandomStream(seed, 1),
                  [&] { return fmt::format("projection on input {}[{}]", i, column); });
  }
}

}  // namespace

std::vector<Measurement> check_narrow_gradient(const Measurement& base,
                                               const OperatorRegistry& registry,
                                               const OperatorCase& op_case,
                                               const GradientOptions& options) {
  std::vector<Measurement> results;
  DifferentiableCase function(registry, op_case, op_case.inputs, options.interrupt);
  for (std::size_t i = 0; i < function.inputs(); ++i) {
    if (!function.has_gradient(i)) continue;
    Measurement& one = results.emplace_back(base);
    if (auto reason = function.obstacle(); !reason.empty()) {
      one.status = Status::skipped;
      one.reason = std::move(reason);
      return {one};
    }
    const bool full = options.mode == GradientMode::full ||
                      (options.mode == GradientMode::automatic && function.has_small_jacobian(i));
    const ForwardTolerance rounding =
        rounding_tolerance(summing_cost(function.cost(), op_case),
                           std::int64_t(function.output_elements()), function.widest());
    const double step = std::cbrt(rounding.relative);
    Tally tally;
    if (full) {
      compare_all(function, i, step, rounding, tally);
    } else {
      compare_some(function, i, step, rounding, options.seed, tally);
    }
    one.samples = {tally.largest};
    one.conditions["tensor"] = identity(fmt::format("gradient of input {}", i));
    one.conditions["mode"] = identity(full ? "full" : "projection");
    one.conditions["precision"] = identity(std::string(name_of(function.widest())));
    const auto count = [&](const char* name, const std::set<std::size_t>& places) {
      if (places.empty()) return;
      one.conditions[name] =
          finding(fmt::format("{} of {}", places.size(), function.start(i).size()));
    };
    count("kinks", tally.sharp);
    count("undefined places", tally.undefined);
    if (!tally.where.empty()) {
      one.status = Status::failed;
      one.reason = tally.where;
    } else if (tally.compared == 0 && !tally.undefined.empty()) {
      one.status = Status::skipped;
      one.samples.clear();
      one.reason = kNothingCompared;
    }
  }
  return results;
}

}  // namespace d5::detail

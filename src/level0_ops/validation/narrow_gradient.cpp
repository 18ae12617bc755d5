// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/narrow_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "d5/core/random.hpp"
#include "level0_ops/validation/differentiable_case.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostInputs = 200, kMostOutputs = 2000;  // of a full Jacobian
constexpr std::size_t kSomeInputs = 64;                        // of a larger one
/// A kink or a jump nearby is looked for with steps that are each so much finer.
constexpr double kFiner = 4;
constexpr std::size_t kSteps = 3;
/// Places beside one, and what slopes differ by, there, at a kink.
constexpr int kPlaces = 64;
constexpr double kSharp = 0.25;

/// Outputs beside a place, a step and two off.
struct Stride {
  std::vector<double> above, below, far_above, far_below;
  double step;  ///< as far as the type lets it
};

/// A slope and how far it may be off.
struct Slope {
  double value, uncertain;
};

/// Slopes of all outputs by one element of an input.
class NarrowSlopes {
 public:
  using Factors = std::vector<std::pair<std::size_t, double>>;  ///< v of v^T F, by outputs

  NarrowSlopes(DifferentiableCase& function, std::size_t i, std::size_t column, double step,
               ForwardTolerance rounding)
      : function_(function),
        i_(i),
        column_(column),
        rounding_(rounding),
        spacing_(spacing_of(function.widest())) {
    function.put_back();
    middle_ = function.values();
    std::vector<double> x = function.start(i);
    const double before = x[column];
    step *= std::max(1.0, std::fabs(before));
    const auto at = [&](double moved, std::vector<double>& outputs) {
      x[column] = before + moved;
      const double place = function.put(i, x)[column];
      outputs = function.values();
      return place;
    };
    for (std::size_t j = 0; j < kSteps; ++j, step /= kFiner) {
      Stride& s = strides_.emplace_back();
      const double high = at(step, s.above), low = at(-step, s.below);
      s.step = (high - low) / 2;
      (void)at(2 * s.step, s.far_above);
      (void)at(-2 * s.step, s.far_below);
    }
    function.put_back();
  }

  struct Finding {
    double error = 0;  ///< relative to max(1, |what is right|)
    bool is_right = true;
    bool is_sharp = false;    ///< a kink or a jump at the place
    bool is_compared = true;  ///< not where it is no number
    std::string where = {};
  };
  /// What is said of v^T F, whose slope should be `slope`. The step that leaves the least doubt
  /// judges: a wide one where the function is smooth, a finer one beside a kink.
  [[nodiscard]] Finding judge(const Factors& v, double slope) const {
    for (const auto& [k, factor] : v) {
      if (!std::isfinite(middle_[k])) return {.is_compared = false};
    }
    Slope right = central(strides_.front(), v);
    for (const Stride& stride : strides_) {
      const Slope other = central(stride, v);
      if (other.uncertain < right.uncertain) right = other;
    }
    const double off = std::fabs(slope - right.value);
    Finding result{.error = off / std::max(1.0, std::fabs(right.value))};
    if (off <= right.uncertain) return result;
    result.is_right = false;
    result.where = fmt::format("backward says {:.6g}, differences say {:.6g} ± {:.2g}", slope,
                               right.value, right.uncertain);
    return judge_sharp(v, slope, std::move(result));
  }

  /// Looks beside a place where a slope was found wrong: of equal numbers the one in the middle
  /// moves with none of them alone.
  void look_beside(const Factors& v, double slope, RandomStream random, Finding& found) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int place = 0; place < kPlaces; ++place) {
      const double sum = slope_beside(v, random);
      low = std::min(low, sum);
      high = std::max(high, sum);
    }
    function_.put_back();
    // A slope that bends differs beside the place, too, and by twice as much as to either side.
    double bend = kSharp;
    for (const auto& [k, factor] : v) {
      const Stride& s = strides_.front();
      bend += 4 * std::fabs(factor * (s.above[k] - 2 * middle_[k] + s.below[k])) / s.step;
    }
    if (high - low > bend) settle(slope, low, high, central(strides_.back(), v).uncertain, found);
  }

 private:
  [[nodiscard]] bool moves(const Stride& stride, std::size_t k) const {
    return stride.above[k] != middle_[k] || stride.below[k] != middle_[k];
  }

  [[nodiscard]] Slope central(const Stride& stride, const Factors& v) const {
    Slope result{0, 0};
    for (const auto& [k, factor] : v) {
      if (!moves(stride, k)) {  // by less than it can
        result.uncertain += std::fabs(factor * middle_[k]) * spacing_ / stride.step;
        continue;
      }
      const double near = (stride.above[k] - stride.below[k]) / (2 * stride.step);
      const double far = (stride.far_above[k] - stride.far_below[k]) / (4 * stride.step);
      const double size = std::max(std::fabs(stride.above[k]), std::fabs(stride.below[k]));
      const double rounding = rounding_.absolute + rounding_.relative * size;
      result.value += factor * near;
      result.uncertain += std::fabs(factor) * (std::fabs(near - far) + rounding / stride.step);
    }
    return result;
  }

  /// Between the slopes beside a place that is sharp at every step, all are right.
  [[nodiscard]] Finding judge_sharp(const Factors& v, double slope, Finding found) const {
    found.is_right = false;
    double low = 0, high = 0, uncertain = 0;
    for (const auto& [k, factor] : v) {
      const Stride &coarse = strides_.front(), &fine = strides_.back();
      if (!moves(fine, k)) continue;
      const auto gap = [&](const Stride& s) {
        return std::fabs(s.above[k] - 2 * middle_[k] + s.below[k]) / s.step;
      };
      const double size = std::max(std::fabs(fine.above[k]), std::fabs(fine.below[k]));
      const double off = 2 * (rounding_.absolute + rounding_.relative * size) / fine.step;
      double right = (fine.above[k] - middle_[k]) / fine.step;
      double left = (middle_[k] - fine.below[k]) / fine.step;
      if (!(gap(fine) > off) || gap(fine) < gap(coarse) / 2) {
        right = left = (right + left) / 2;
      } else {
        found.is_sharp = true;
        if (gap(fine) > 4 * gap(coarse)) {  // a jump: beside it
          right = (fine.far_above[k] - fine.above[k]) / fine.step;
          left = (fine.below[k] - fine.far_below[k]) / fine.step;
        }
      }
      low += std::min(factor * right, factor * left);
      high += std::max(factor * right, factor * left);
      uncertain += std::fabs(factor) * off;
    }
    if (!found.is_sharp) return found;
    settle(slope, low, high, uncertain, found);
    return found;
  }

  /// Of v^T F at a place drawn close by, which all inputs move to.
  double slope_beside(const Factors& v, RandomStream& random) {
    std::vector<double> x;
    for (std::size_t i = 0; i < function_.inputs(); ++i) {
      if (!function_.has_gradient(i)) continue;
      std::vector<double> moved = function_.start(i);
      for (double& value : moved) {
        value += strides_.front().step * (2 * random.uniform_double() - 1);
      }
      moved = function_.put(i, moved);
      if (i == i_) x = std::move(moved);
    }
    const double before = x[column_], step = strides_.back().step;
    x[column_] = before + step;
    const double top = function_.put(i_, x)[column_];
    const std::vector<double> above = function_.values();
    x[column_] = before - step;
    const double bottom = function_.put(i_, x)[column_];
    const std::vector<double> below = function_.values();
    double sum = 0;
    for (const auto& [k, factor] : v) sum += factor * (above[k] - below[k]) / (top - bottom);
    return sum;
  }

  static void settle(double slope, double low, double high, double uncertain, Finding& found) {
    found.is_sharp = true;
    found.is_right = slope >= low - uncertain && slope <= high + uncertain;
    found.where =
        fmt::format("backward says {:.6g}, slopes beside it are {:.6g} to {:.6g} ± {:.2g}", slope,
                    low, high, uncertain);
    const double outside = slope < low ? low - slope : slope <= high ? 0 : slope - high;
    found.error = outside / std::max({1.0, std::fabs(low), std::fabs(high)});
  }

  DifferentiableCase& function_;
  std::size_t i_, column_;
  ForwardTolerance rounding_;
  double spacing_;
  std::vector<double> middle_;
  std::vector<Stride> strides_;
};

/// What was found of one input's gradient.
struct Verdict {
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
    // One that is wrong is enough to look for.
    if (!found.is_right && !found.is_sharp && where.empty()) {
      slopes.look_beside(v, slope, random, found);
    }
    ++compared;
    largest = worse(largest, found.error);
    if (found.is_sharp) sharp.insert(place);
    if (!found.is_right && where.empty()) where = name() + ": " + found.where;
  }
};

void check_full(DifferentiableCase& function, std::size_t i, double step, ForwardTolerance rounding,
                Verdict& verdict) {
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
      verdict.compare(slopes, {{row, 1}}, rows[row][column], column, RandomStream(column), [&] {
        return fmt::format("output element {}, input {}[{}]", row, i, column);
      });
    }
  }
}

/// v^T J for a random v, by some elements of the input: together they would meet kinks that a step
/// of this size reaches from many places.
void check_some(DifferentiableCase& function, std::size_t i, double step, ForwardTolerance rounding,
                std::uint64_t seed, Verdict& verdict) {
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
    verdict.compare(slopes, factors, gradient[column], column, RandomStream(seed, 1),
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
    const bool full =
        options.mode == GradientMode::full ||
        (options.mode == GradientMode::automatic && function.start(i).size() <= kMostInputs &&
         function.output_elements() <= kMostOutputs);
    const ForwardTolerance rounding = rounding_tolerance(
        function.cost(), std::int64_t(function.output_elements()), function.widest());
    const double step = std::cbrt(rounding.relative);
    Verdict verdict;
    if (full) {
      check_full(function, i, step, rounding, verdict);
    } else {
      check_some(function, i, step, rounding, options.seed, verdict);
    }
    one.samples = {verdict.largest};
    one.conditions["tensor"] = fmt::format("gradient of input {}", i);
    one.conditions["mode"] = full ? "full" : "projection";
    one.conditions["precision"] = std::string(name_of(function.widest()));
    const auto count = [&](const char* name, const std::set<std::size_t>& places) {
      if (places.empty()) return;
      one.conditions[name] =
          fmt::format("{} of {} input elements", places.size(), function.start(i).size());
    };
    count("kinks", verdict.sharp);
    count("undefined places", verdict.undefined);
    if (!verdict.where.empty()) {
      one.status = Status::failed;
      one.reason = verdict.where;
    } else if (verdict.compared == 0 && !verdict.undefined.empty()) {
      one.status = Status::skipped;
      one.samples.clear();
      one.reason = kNothingCompared;
    }
  }
  return results;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "level2_training/optimization/shared/curvature_pairs.hpp"
#include "level2_training/optimization/shared/flat_parameters.hpp"
#include "level2_training/optimization/vector_optimizer.hpp"

namespace d5::detail {
namespace {

/// The value and slope of a function at one point of a line.
struct LinePoint {
  double t = 0, value = 0, slope = 0;
  std::vector<double> gradient = {};  // over all parameters
};

struct LineSearch {
  double decrease = 1e-4;     ///< c1: value <= value(0) + c1 * t * slope(0)
  double curvature = 0.9;     ///< c2: |slope| <= c2 * |slope(0)|
  double least_width = 1e-9;  ///< minimum width of a bracket
  int most = 25;              ///< steps
};

/// Minimum within [least, most] of the cubic through two points with given slopes.
///
/// Source: Nocedal and Wright, equation 3.59.
double cubic_minimum(const LinePoint& one, const LinePoint& other, double least, double most) {
  const auto& [a, b] = one.t <= other.t ? std::pair<const LinePoint&, const LinePoint&>(one, other)
                                        : std::pair<const LinePoint&, const LinePoint&>(other, one);
  const double d1 = one.slope + other.slope - 3 * (one.value - other.value) / (one.t - other.t);
  const double square = d1 * d1 - one.slope * other.slope;
  const double middle = (least + most) / 2;
  if (!(square >= 0)) return middle;
  const double d2 = std::sqrt(square);
  const double t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2));
  return std::isfinite(t) ? std::clamp(t, least, most) : middle;
}

/// One search.
class Search {
 public:
  Search(const std::function<LinePoint(double)>& at, const LinePoint& start, const LineSearch& how)
      : at_(at), start_(start), how_(how) {}

  LinePoint run(double first) {
    LinePoint before = start_, now = ask(first);
    for (int step = 0;; ++step) {
      if (step == how_.most) return now.value < start_.value ? now : start_;
      if (!decreases(now) || (step > 1 && now.value >= before.value)) break;
      if (is_flat(now)) return now;
      if (now.slope >= 0) break;
      const double near = now.t + 0.01 * (now.t - before.t), far = 10 * now.t;
      const double next = cubic_minimum(before, now, near, far);
      before = std::move(now);
      now = ask(next);
      steps_ = step + 1;
    }
    return zoom(std::move(before), std::move(now));
  }

 private:
  LinePoint ask(double t) {
    LinePoint point = at_(t);
    if (!std::isfinite(point.value)) point.value = std::numeric_limits<double>::infinity();
    return point;
  }
  [[nodiscard]] bool decreases(const LinePoint& point) const {
    return point.value <= start_.value + how_.decrease * point.t * start_.slope;
  }
  [[nodiscard]] bool is_flat(const LinePoint& point) const {
    return std::abs(point.slope) <= -how_.curvature * start_.slope;
  }

  LinePoint zoom(LinePoint low, LinePoint high) {
    if (!(low.value <= high.value)) std::swap(low, high);
    bool near_an_end = false;
    for (; steps_ < how_.most; ++steps_) {
      const auto [least, most] = std::minmax(low.t, high.t);
      if (most - least < how_.least_width) break;
      LinePoint now =
          ask(away_from_ends(cubic_minimum(low, high, least, most), least, most, near_an_end));
      if (!decreases(now) || now.value >= low.value) {
        high = std::move(now);
        if (!(low.value <= high.value)) std::swap(low, high);
        continue;
      }
      if (is_flat(now)) return now;
      if (now.slope * (high.t - low.t) >= 0) high = low;
      low = std::move(now);
    }
    return low;
  }

  /// Keeps `t` away from the ends: within a tenth of the width only once, and never at an end.
  static double away_from_ends(double t, double least, double most, bool& near_an_end) {
    const double margin = 0.1 * (most - least);
    if (std::min(most - t, t - least) >= margin) {
      near_an_end = false;
      return t;
    }
    if (!near_an_end && t < most && t > least) {
      near_an_end = true;
      return t;
    }
    near_an_end = false;
    return std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
  }

  const std::function<LinePoint(double)>& at_;
  const LinePoint& start_;
  const LineSearch& how_;
  int steps_ = 0;
};

/// A point beside `start`, whose slope is negative, that meets the strong Wolfe conditions, or the
/// best that was found. Begins at `first`. A value that is not a number counts as infinite.
///
/// Source: Nocedal and Wright, "Numerical Optimization" (2nd ed.), algorithms 3.5 and 3.6; how far
/// it goes on and how near it comes to a bracket's ends as LibTorch's LBFGS does.
LinePoint search_line(const std::function<LinePoint(double t)>& at, const LinePoint& start,
                      double first, const LineSearch& how) {
  return Search(at, start, how).run(first);
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

struct LbfgsOptions {
  enum class Search { none, strong_wolfe } line_search = Search::strong_wolfe;
  double learning_rate = 1;
  std::int64_t iterations = 20;
  std::int64_t evaluations = 25;
  std::int64_t history = 100;
  double least_gradient = 1e-7;
  double least_change = 1e-9;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "initial step length of a line search",
                {.above = 0});
    options.add("iterations", iterations, "maximum number of iterations per step, all on one batch",
                {.least = 1});
    options.add("evaluations", evaluations,
                "maximum number of evaluations of loss and gradient per step", {.least = 1});
    options.add("history", history, "history size: number of pairs that are kept", {.least = 1});
    options.add("line_search", line_search, "line search method", {"none", "strong_wolfe"});
    options.add("least_gradient", least_gradient,
                "tolerance: stop when no element of the gradient is larger", {.least = 0});
    options.add("least_change", least_change,
                "tolerance: stop when loss and parameters change by less", {.least = 0});
  }
};

/// Iterates w <- w + t d with d = -H g many times per step; H comes from the last pairs of steps
/// and gradient changes. It evaluates gradients of a batch several times, so batches should be
/// large and the network free of random nodes. It computes in float64. Modifiers see only the
/// gradients of the first evaluation.
///
/// Source: Liu and Nocedal, "On the Limited Memory BFGS Method for Large Scale Optimization"
/// (1989), with the options, the ends and the first step of LibTorch's LBFGS.
class Lbfgs final : public detail::VectorOptimizer {
 public:
  using Options = LbfgsOptions;
  Lbfgs(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : VectorOptimizer(std::move(executor), std::move(loss), "lbfgs"),
        options_(options),
        pairs_(std::size_t(options.history)) {
    hyper_parameters().bind(options_);
  }

  void update_parameters(ParameterRange, double factor) override {
    Network& network = executor().network();
    detail::LinePoint here{.value = loss_of(outputs()),
                           .gradient = detail::flat_gradients(network, factor)};
    std::int64_t evaluations = 1;
    for (std::int64_t i = 1; i <= options_.iterations; ++i) {
      if (detail::largest(here.gradient) <= options_.least_gradient) return;
      choose_direction(here.gradient);
      here.t = 0;
      here.slope = detail::dot(here.gradient, direction_);
      if (here.slope > -options_.least_change) return;
      const double before = here.value;
      const bool last = i == options_.iterations;
      here = go(std::move(here), last, evaluations);
      size_ = here.t;
      if (last || evaluations >= options_.evaluations) return;
      const bool stands = detail::largest(direction_) * size_ <= options_.least_change;
      if (stands || std::abs(here.value - before) < options_.least_change) return;
    }
  }

  [[nodiscard]] ValueMap rule_state() const override {
    ValueMap state{{"directions", Tensor::scalar(directions_)},
                   {"size", Tensor::scalar(size_)},
                   {"direction", Tensor::vector(direction_)},
                   {"gradient", Tensor::vector(gradient_)}};
    pairs_.save(state);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    directions_ = entry(state, "directions").item<std::int64_t>();
    size_ = entry(state, "size").item<double>();
    direction_ = vector(state, "direction");
    gradient_ = vector(state, "gradient");
    pairs_.restore(state);
  }

 private:
  double loss_of(const ValueMap& outputs) { return gradients().loss_of_run(outputs, batch()); }

  void choose_direction(const std::vector<double>& gradient) {
    constexpr double kLeastCurvature = 1e-10;
    if (directions_ > 0) {
      for (double& value : direction_) value *= size_;
      std::vector<double> change = gradient;
      detail::add_times(change, -1, gradient_);
      pairs_.add(std::move(direction_), std::move(change), kLeastCurvature);
    }
    ++directions_;
    gradient_ = gradient;
    direction_ = pairs_.times(gradient);
    for (double& value : direction_) value = -value;
  }

  /// Moves along the direction from `here`, the point of the current parameters; returns the end
  /// point.
  detail::LinePoint go(detail::LinePoint here, bool last, std::int64_t& evaluations) {
    constexpr std::int64_t kNone = 0, kMostSearch = 1000;
    Network& network = executor().network();
    const std::vector<double> from = detail::flat_values(network);
    const auto place = [&](double t) {
      std::vector<double> to = from;
      detail::add_times(to, t, direction_);
      detail::set_values(network, to);
    };
    const auto at = [&](double t) {
      place(t);
      ++evaluations;
      return evaluate(t);
    };
    double first = options_.learning_rate;
    if (directions_ == 1) {
      double sum = 0;
      for (const double value : here.gradient) sum += std::abs(value);
      first *= std::min(1.0, 1 / sum);
    }
    if (options_.line_search == Options::Search::none) {
      if (!last) return at(first);
      place(first);
      here.t = first;
      return here;
    }
    const detail::LineSearch how{
        .least_width = options_.least_change / detail::largest(direction_),
        .most = int(std::clamp(options_.evaluations - evaluations, kNone, kMostSearch))};
    detail::LinePoint end = detail::search_line(at, here, first, how);
    place(end.t);
    return end;
  }

  detail::LinePoint evaluate(double t) {
    const ValueMap& outputs = run_again();
    detail::LinePoint point{.t = t,
                            .value = loss_of(outputs),
                            .gradient = detail::flat_gradients(executor().network())};
    point.slope = detail::dot(point.gradient, direction_);
    return point;
  }

  Options options_;
  detail::CurvaturePairs pairs_;
  std::vector<double> direction_, gradient_;  // the last direction, and where it began
  double size_ = 0;                           // step length along it
  std::int64_t directions_ = 0;
};

}  // namespace

namespace optimizer {

void register_lbfgs(Registry<OptimizerEntry>& registry) {
  registry.add("lbfgs",
               OptimizerEntry::of<Lbfgs>(
                   "L-BFGS with a line search, for large batches (Liu and Nocedal, 1989)"));
}

}  // namespace optimizer
}  // namespace d5

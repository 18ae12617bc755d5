// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "level2_training/optimization/shared/curvature_pairs.hpp"
#include "level2_training/optimization/shared/flat_parameters.hpp"
#include "level2_training/optimization/shared/line_search.hpp"
#include "level2_training/optimization/vector_optimizer.hpp"

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
    options.add("learning_rate", learning_rate, "first trial along a direction", {.above = 0});
    options.add("iterations", iterations, "directions a step, all on one batch", {.least = 1});
    options.add("evaluations", evaluations, "of loss and gradient in a step, above which it ends",
                {.least = 1});
    options.add("history", history, "pairs that are remembered", {.least = 1});
    options.add("line_search", line_search, "how far to go", {"none", "strong_wolfe"});
    options.add("least_gradient", least_gradient, "largest element of one that is the end",
                {.least = 0});
    options.add("least_change", least_change, "of loss and parameters, below which it ends",
                {.least = 0});
  }
};

/// d = -H g with H from the last pairs of steps and changes of the gradient;  w <- w + t d, many
/// times a step. It asks for the gradients of a batch several times: the batch should be large, and
/// nothing in the network random. It computes in float64, and of what modifiers do to gradients it
/// sees the first evaluation's alone.
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

  /// Goes along the direction from `here`, where the parameters are, and says where it ends.
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
  double size_ = 0;                           // how far it was followed
  std::int64_t directions_ = 0;
};

}  // namespace

namespace optimizer {

void register_lbfgs(Registry<OptimizerEntry>& registry) {
  registry.add("lbfgs", OptimizerEntry::of<Lbfgs>(
                            "L-BFGS with a line search (Liu and Nocedal, 1989), large batches"));
}

}  // namespace optimizer
}  // namespace d5

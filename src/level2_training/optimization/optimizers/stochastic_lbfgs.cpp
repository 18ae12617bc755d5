// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "level2_training/optimization/shared/curvature_pairs.hpp"
#include "level2_training/optimization/shared/flat_parameters.hpp"
#include "level2_training/optimization/vector_optimizer.hpp"

namespace d5 {
namespace {

struct StochasticLbfgsOptions {
  double learning_rate = 0.01;
  std::int64_t history = 10;
  std::int64_t every = 10;
  double difference = 0.01;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "step size along the direction", {.least = 0});
    options.add("history", history, "history size: number of pairs that are kept", {.least = 1});
    options.add("every", every, "interval between pairs, in steps", {.least = 1});
    options.add("difference", difference,
                "half width of the finite difference that measures curvature", {.above = 0});
  }
};

using Vector = std::vector<double>;

/// Updates in epochs 2, 4, ..., with a the parameters before the epoch and mu the gradient of all
/// samples there, which the preceding epoch accumulates without updates:
///
///     v = g(w) - g(a) + mu;  w <- w - learning_rate * H v
///
/// H is that of L-BFGS. Its pairs are s, the difference of the means u of `every` successive
/// parameters, and y = (g(u + e s) - g(u - e s)) / 2e, the curvature of the step's batch along it;
/// the paper uses the Hessian of a separate batch. The first epoch is plain gradient descent.
/// Batches must have their epoch set.
///
/// Source: Moritz, Nishihara and Jordan, "A Linearly-Convergent Stochastic L-BFGS Algorithm"
/// (AISTATS 2016), algorithm 1; the beginning after Johnson and Zhang, "Accelerating Stochastic
/// Gradient Descent Using Predictive Variance Reduction" (NeurIPS 2013).
class StochasticLbfgs final : public detail::VectorOptimizer {
 public:
  using Options = StochasticLbfgsOptions;
  StochasticLbfgs(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : VectorOptimizer(std::move(executor), std::move(loss), "stochastic_lbfgs"),
        options_(options),
        pairs_(std::size_t(options.history)) {
    hyper_parameters().bind(options_);
  }

  void update_parameters(ParameterRange, double factor) override {
    Network& network = executor().network();
    const Vector gradient = detail::flat_gradients(network, factor);
    Vector w = detail::flat_values(network);
    if (batch().epoch != epoch_) begin_epoch(w);
    if (epoch_ % 2 == 1) return gather(gradient);
    if (anchor_.empty()) {
      detail::add_times(w, -options_.learning_rate, gradient);
      return detail::set_values(network, w);
    }
    Vector v = gradient;
    detail::add_times(v, -1, gradient_at(anchor_));
    detail::add_times(v, 1, mean_);
    detail::add_times(w, -options_.learning_rate, pairs_.times(v));
    remember(w);
    detail::set_values(network, w);
  }

  [[nodiscard]] ValueMap rule_state() const override {
    ValueMap state{{"epoch", Tensor::scalar(epoch_)},   {"gathered", Tensor::scalar(gathered_)},
                   {"mean", Tensor::vector(mean_)},     {"anchor", Tensor::vector(anchor_)},
                   {"path", Tensor::vector(path_)},     {"path_steps", Tensor::scalar(path_steps_)},
                   {"last_path", Tensor::vector(last_)}};
    pairs_.save(state);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    epoch_ = entry(state, "epoch").item<std::int64_t>();
    gathered_ = entry(state, "gathered").item<double>();
    mean_ = vector(state, "mean"), anchor_ = vector(state, "anchor");
    path_ = vector(state, "path"), last_ = vector(state, "last_path");
    path_steps_ = entry(state, "path_steps").item<std::int64_t>();
    pairs_.restore(state);
  }

 private:
  void begin_epoch(const Vector& w) {
    epoch_ = batch().epoch;
    path_.assign(w.size(), 0.0);
    path_steps_ = 0;
    if (epoch_ % 2 == 1) {
      mean_.assign(w.size(), 0.0);
      gathered_ = 0;
    } else if (gathered_ > 0) {
      anchor_ = w;
    }
  }

  /// The mean over samples.
  void gather(const Vector& gradient) {
    const double samples = double(batch().global_size > 0 ? batch().global_size : batch().size);
    gathered_ += samples;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      mean_[i] += samples / gathered_ * (gradient[i] - mean_[i]);
    }
  }

  /// Gradient of this step's batch, over all ranks' samples.
  Vector gradient_at(const Vector& place) {
    detail::set_values(executor().network(), place);
    (void)run_again();
    return detail::flat_gradients(executor().network());
  }

  /// Adds a pair after each `every` steps.
  void remember(const Vector& w) {
    detail::add_times(path_, 1, w);
    if (++path_steps_ % options_.every != 0) return;
    for (double& value : path_) value /= double(options_.every);
    if (!last_.empty()) {
      Vector s = path_;
      detail::add_times(s, -1, last_);
      const double length = std::sqrt(detail::dot(s, s));
      if (length > 0) add_pair(std::move(s), options_.difference / length);
    }
    last_ = path_;
    path_.assign(w.size(), 0.0);
  }

  void add_pair(Vector s, double e) {
    Vector ahead = path_, behind = path_;
    detail::add_times(ahead, e, s);
    detail::add_times(behind, -e, s);
    Vector y = gradient_at(ahead);
    detail::add_times(y, -1, gradient_at(behind));
    for (double& value : y) value /= 2 * e;
    constexpr double kLeastCurvature = 1e-10;
    pairs_.add(std::move(s), std::move(y), kLeastCurvature);
  }

  Options options_;
  detail::CurvaturePairs pairs_;
  Vector mean_, anchor_;  // mu, and a
  Vector path_, last_;    // the sum of parameters since the last pair; u of that one
  std::int64_t epoch_ = 0, path_steps_ = 0;
  double gathered_ = 0;  // samples in `mean_`
};

}  // namespace

namespace optimizer {

void register_stochastic_lbfgs(Registry<OptimizerEntry>& registry) {
  registry.add("stochastic_lbfgs", OptimizerEntry::of<StochasticLbfgs>(
                                       "stochastic L-BFGS with variance reduction, updating every "
                                       "second epoch (Moritz et al., 2016)"));
}

}  // namespace optimizer
}  // namespace d5

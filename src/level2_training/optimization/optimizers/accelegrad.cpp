// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <vector>

#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/gradient_norm.hpp"
#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"
#include "d5/level2_training/optimization/tensor_update.hpp"
#include "level2_training/optimization/shared/averaging.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5 {
namespace {

constexpr const char* kSums = "weighted_squares";

struct AccelegradOptions {
  double diameter = 0.1;
  double gradient_bound = 1;
  bool per_parameter = false;

  void declare(OptionList& options) {
    options.add("diameter", diameter,
                "diameter of the region that contains the start and the solution", {.above = 0});
    options.add("gradient_bound", gradient_bound, "bound on the gradient's norm, G", {.least = 0});
    options.add("per_parameter", per_parameter,
                "separate norms and rates for each parameter, as in Deep500");
  }
};

/// Starts from y = z = x = w. In step t, counted from 0, with the gradient g at x, and a(t) = 1 for
/// t <= 2, (t + 1) / 4 after:
///
///     eta = 2 diameter / sqrt(gradient_bound^2 + sum of a(i)^2 |g(i)|^2 over i <= t)
///     z <- z - a(t) eta g
///     y <- x - eta g
///     x <- z / a(t+1) + (1 - 1 / a(t+1)) y
///
/// The norm is over all parameters together. w is x; test runs use y. There is no projection.
///
/// Source: Levy, Yurtsever and Cevher, "Online Adaptive Methods, Universality and Acceleration"
/// (NeurIPS 2018), algorithm 1, without constraints; by parameter after Ben-Nun et al., "A Modular
/// Benchmarking Infrastructure for High-Performance and Reproducible Deep Learning" (IPDPS 2019).
class Accelegrad final : public SlottedOptimizer {
 public:
  using Options = AccelegradOptions;
  Accelegrad(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : SlottedOptimizer(std::move(executor), std::move(loss), {"y", "z"}), options_(options) {
    hyper_parameters().bind(options_);
    sums_.resize(options_.per_parameter ? this->executor().network().parameters().size() : 1);
  }

  [[nodiscard]] bool wants_all_gradients() const override { return !options_.per_parameter; }
  [[nodiscard]] bool reads_all_gradients() const override { return false; }
  void new_input() override {
    SlottedOptimizer::new_input();
    norm_.reset();
  }
  bool gradients_final() override {
    norm_ = norm_of_gradients();
    return true;
  }

  void update_parameters(ParameterRange range, double factor) override {
    expect_begun(range.begin);
    if (!options_.per_parameter && added_in_ != step_number()) {
      add(0, factor * norm_.value_or(0));
      added_in_ = step_number();  // several ranges may be updated in one step
    }
    SlottedOptimizer::update_parameters(range, factor);
  }

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    expect_begun(index);
    if (options_.per_parameter) add(index, norm_of(gradient));
    const double sum = sums_[options_.per_parameter ? index : 0];
    const double root = std::sqrt(options_.gradient_bound * options_.gradient_bound + sum);
    const double eta = root == 0 ? 0 : 2 * options_.diameter / root;
    const double now = weight(step_number() - 1), next = weight(step_number());
    const std::array slots{&slot(0, index), &slot(1, index)};
    updater_.update(gradient, parameter, slots, master(index),
                    [&]<class T>(const TensorUpdate<T>& update) {
                      step_of(update, T(eta), T(now * eta), T(1 / next), step_number() == 1);
                    });
  }

  [[nodiscard]] ValueMap rule_state() const override {
    ValueMap state = SlottedOptimizer::rule_state();
    state[kSums] = Tensor::vector(sums_);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    Tensor sums = Tensor::vector(sums_);
    sums.copy_from(state_entry(state, kSums, "optimizer accelegrad"));
    SlottedOptimizer::restore_rule(state);
    sums_.assign(sums.span<double>().begin(), sums.span<double>().end());
  }

  void begin_test_of_rule() override {
    if (step_number() == 0) return;  // no y yet
    Network& network = executor().network();
    kept_.keep(network);
    auto& parameters = network.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (updates(i)) detail::put(slot(0, i), parameters[i].value);
    }
  }
  void end_test_of_rule() override { kept_.give_back(executor().network()); }

 private:
  static double weight(std::int64_t step) { return step <= 2 ? 1 : double(step + 1) / 4; }
  void add(std::size_t sum, double norm) {
    const double weighted = weight(step_number() - 1) * norm;
    sums_[sum] += weighted * weighted;
  }

  template <class T>
  static void step_of(const TensorUpdate<T>& parameter, T eta, T weighted_eta, T share_of_z,
                      bool is_first) {
    const T* g = parameter.gradient.data();
    T *x = parameter.value.data(), *y = parameter.slots[0].data(), *z = parameter.slots[1].data();
    detail::sweep(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) {
        z[i] = (is_first ? x[i] : z[i]) - weighted_eta * g[i];
        y[i] = x[i] - eta * g[i];
        x[i] = y[i] + share_of_z * (z[i] - y[i]);
      }
    });
  }

  Options options_;
  std::vector<double> sums_;
  std::optional<double> norm_;  // norm of all gradients of this step
  std::int64_t added_in_ = 0;   // the step in which the common norm was added
  TensorUpdater updater_;
  KeptParameters kept_;
};

}  // namespace

namespace optimizer {

void register_accelegrad(Registry<OptimizerEntry>& registry) {
  registry.add("accelegrad",
               OptimizerEntry::of<Accelegrad>("AcceleGrad (Levy, Yurtsever and Cevher, 2018)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/optimizer_options.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

/// In step t, counted from 1:
///
///     m <- beta1 * m + (1 - beta1) * g          m' = m / (1 - beta1^t)
///     v <- beta2 * v + (1 - beta2) * g^2        v' = v / (1 - beta2^t)
///     w <- w - learning_rate * m' / (sqrt(v') + epsilon)
///
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 1.
class AdamOptimizer final : public UpdateRuleOptimizer {
 public:
  using Options = AdamOptions;
  AdamOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                const AdamOptions& options)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        options_(options),
        first_("first_moment", this->executor().network()),
        second_("second_moment", this->executor().network()) {}

  void new_input() override {
    ++step_;
    first_correction_ = 1 - std::pow(options_.beta1, double(step_));
    second_correction_ = 1 - std::pow(options_.beta2, double(step_));
  }

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    dispatch(RealTypes{}, gradient.dtype(), "optimizer adam", [&]<class T>() {
      update<T>(gradient, parameter.value, first_[index], second_[index]);
    });
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state{{"step", Tensor::scalar(step_)}};
    first_.save(state);
    second_.save(state);
    return state;
  }
  void restore(const ValueMap& state) override {
    step_ = state_entry(state, "step", "optimizer adam").item<std::int64_t>();
    first_.restore(state);
    second_.restore(state);
  }

 private:
  template <class T>
  void update(const Tensor& gradient, Tensor& value, Tensor& first, Tensor& second) const {
    const T beta1 = T(options_.beta1), rest1 = T(1 - options_.beta1);
    const T beta2 = T(options_.beta2), rest2 = T(1 - options_.beta2);
    const T rate = T(options_.learning_rate / first_correction_);
    const T root_correction = T(std::sqrt(second_correction_));
    const T epsilon = T(options_.epsilon), decay = T(options_.weight_decay);
    const T* __restrict g = gradient.data<T>();
    T* __restrict w = value.data<T>();
    T* __restrict m = first.data<T>();
    T* __restrict v = second.data<T>();
    detail::sweep(gradient.elements(), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T slope = g[i] + decay * w[i];
        m[i] = beta1 * m[i] + rest1 * slope;
        v[i] = beta2 * v[i] + rest2 * slope * slope;
        w[i] -= rate * m[i] / (std::sqrt(v[i]) / root_correction + epsilon);
      }
    });
  }

  AdamOptions options_;
  ParameterSlots first_, second_;
  std::int64_t step_ = 0;
  double first_correction_ = 1, second_correction_ = 1;
};

}  // namespace

namespace optimizer {

void register_adam(Registry<OptimizerEntry>& registry) {
  registry.add("adam", OptimizerEntry::of<AdamOptimizer>("Adam (Kingma and Ba, 2015)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/optimizer_options.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

/// g <- g + weight_decay * w;  v <- momentum * v + g;  w <- w - learning_rate * v
///
/// Source: Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods" (1964);
/// Nesterov's form after Sutskever et al., "On the Importance of Initialization and Momentum in
/// Deep Learning" (ICML 2013), as LibTorch's SGD defines it.
class MomentumOptimizer final : public UpdateRuleOptimizer {
 public:
  using Options = MomentumOptions;
  MomentumOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                    const MomentumOptions& options)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        options_(options),
        velocities_("velocity", this->executor().network()) {}

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    dispatch(RealTypes{}, gradient.dtype(), "optimizer momentum", [&]<class T>() {
      if (options_.nesterov) {
        update<T, true>(gradient, parameter.value, velocities_[index]);
      } else {
        update<T, false>(gradient, parameter.value, velocities_[index]);
      }
    });
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state;
    velocities_.save(state);
    return state;
  }
  void restore(const ValueMap& state) override { velocities_.restore(state); }

 private:
  template <class T, bool kNesterov>
  void update(const Tensor& gradient, Tensor& value, Tensor& velocity) const {
    const T rate = T(options_.learning_rate), momentum = T(options_.momentum);
    const T decay = T(options_.weight_decay);
    const T* __restrict g = gradient.data<T>();
    T* __restrict w = value.data<T>();
    T* __restrict v = velocity.data<T>();
    detail::sweep(gradient.elements(), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T slope = g[i] + decay * w[i];
        v[i] = momentum * v[i] + slope;
        w[i] -= rate * (kNesterov ? slope + momentum * v[i] : v[i]);
      }
    });
  }

  MomentumOptions options_;
  ParameterSlots velocities_;
};

}  // namespace

namespace optimizer {

void register_momentum(Registry<OptimizerEntry>& registry) {
  registry.add("momentum",
               OptimizerEntry::of<MomentumOptimizer>(
                   "gradient descent with momentum (Polyak, 1964), or nesterov=true's"));
}

}  // namespace optimizer
}  // namespace d5

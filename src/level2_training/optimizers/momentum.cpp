// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

struct MomentumOptions {
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 0;  ///< times the parameter, added to its gradient
  bool nesterov = false;    ///< looks ahead: uses g + momentum * v instead of v
};

/// g <- g + weight_decay * w;  v <- momentum * v + g;  w <- w - learning_rate * v
///
/// Source: Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods" (1964);
/// Nesterov's form after Sutskever et al., "On the Importance of Initialization and Momentum in
/// Deep Learning" (ICML 2013), as LibTorch's SGD defines it.
class MomentumOptimizer final : public UpdateRuleOptimizer {
 public:
  MomentumOptimizer(std::unique_ptr<GraphExecutor> executor, std::string loss,
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

MomentumOptions read(const Settings& settings) {
  const MomentumOptions defaults;
  MomentumOptions options{.learning_rate = settings.number("learning_rate", defaults.learning_rate),
                          .momentum = settings.number("momentum", defaults.momentum),
                          .weight_decay = settings.number("weight_decay", defaults.weight_decay),
                          .nesterov = settings.flag("nesterov", defaults.nesterov)};
  settings.expect_all_read();
  if (!(options.learning_rate >= 0) || !(options.momentum >= 0) || !(options.weight_decay >= 0)) {
    throw ValueError(fmt::format(
        "optimizer momentum: learning_rate {}, momentum {}, weight_decay {}; expected none below 0",
        options.learning_rate, options.momentum, options.weight_decay));
  }
  return options;
}

}  // namespace

namespace optimizer {

void register_momentum(Registry<OptimizerEntry>& registry) {
  registry.add("momentum", {"gradient descent with momentum (Polyak, 1964), or nesterov=true's",
                            [](auto executor, std::string loss, const Settings& settings) {
                              return std::make_unique<MomentumOptimizer>(
                                  std::move(executor), std::move(loss), read(settings));
                            }});
}

}  // namespace optimizer
}  // namespace d5

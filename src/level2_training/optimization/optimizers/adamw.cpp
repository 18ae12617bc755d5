// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"

namespace d5 {
namespace {

/// w <- (1 - learning_rate * weight_decay) * w - AdamStep of g
///
/// Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization" (ICLR 2019), algorithm 2,
/// with the decay times the learning rate, as LibTorch has it.
template <class T>
struct AdamW {
  using Options = AdamWOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  AdamW(const Options& options, std::int64_t step)
      : adam(options, step), kept(T(1 - options.learning_rate * options.weight_decay)) {}
  void operator()(T g, T& w, T& m, T& v) const { w = kept * w - adam(g, m, v); }
  detail::AdamStep<T> adam;
  T kept;
};

/// AMSGrad: keeps the largest second moment.
template <class T>
struct AmsGradW {
  using Options = AdamWOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment", "largest_second_moment"};
  AmsGradW(const Options& options, std::int64_t step)
      : adam(options, step),
        kept(T(1 - options.learning_rate * options.weight_decay)),
        amsgrad(options.amsgrad) {}
  void operator()(T g, T& w, T& m, T& v, T& largest) const {
    w = kept * w - adam(g, m, v, largest, amsgrad);
  }
  detail::AdamStep<T> adam;
  T kept;
  bool amsgrad;
};

}  // namespace

namespace optimizer {

void register_adamw(Registry<OptimizerEntry>& registry) {
  registry.add("adamw", either_rule<AdamW, AmsGradW>(
                            "AdamW, Adam with decoupled weight decay (Loshchilov and Hutter, 2019)",
                            &AdamWOptions::amsgrad));
}

}  // namespace optimizer
}  // namespace d5

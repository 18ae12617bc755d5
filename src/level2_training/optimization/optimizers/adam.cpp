// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"

namespace d5 {
namespace {

/// w <- w - AdamStep of g + weight_decay * w
template <class T>
struct Adam {
  using Options = AdamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  Adam(const Options& options, std::int64_t step)
      : adam(options, step), decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& m, T& v) const { w -= adam(g + decay * w, m, v); }
  detail::AdamStep<T> adam;
  T decay;
};

/// AMSGrad: keeps the largest second moment.
template <class T>
struct AmsGrad {
  using Options = AdamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment", "largest_second_moment"};
  AmsGrad(const Options& options, std::int64_t step)
      : adam(options, step), decay(T(options.weight_decay)), amsgrad(options.amsgrad) {}
  void operator()(T g, T& w, T& m, T& v, T& largest) const {
    w -= adam(g + decay * w, m, v, largest, amsgrad);
  }
  detail::AdamStep<T> adam;
  T decay;
  bool amsgrad;
};

}  // namespace

namespace optimizer {

void register_adam(Registry<OptimizerEntry>& registry) {
  registry.add("adam",
               either_rule<Adam, AmsGrad>("Adam (Kingma and Ba, 2015), with amsgrad=true AMSGrad",
                                          &AdamOptions::amsgrad));
}

}  // namespace optimizer
}  // namespace d5

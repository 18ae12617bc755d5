// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"

namespace d5 {
namespace {

/// w <- w - learning_rate * (g + weight_decay * w)
///
/// Source: Robbins and Monro, "A Stochastic Approximation Method" (1951).
template <class T>
struct Sgd {
  using Options = SgdOptions;
  static constexpr std::array<const char*, 0> kSlots{};
  Sgd(const Options& options, std::int64_t)
      : rate(T(options.learning_rate)), decay(T(options.weight_decay)) {}
  void operator()(T g, T& w) const { w -= rate * (g + decay * w); }
  T rate, decay;
};

}  // namespace

namespace optimizer {

void register_sgd(Registry<OptimizerEntry>& registry) {
  registry.add(
      "sgd", ElementOptimizer<Sgd>::entry("stochastic gradient descent (Robbins and Monro, 1951)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/optimizer_options.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

/// w <- w - learning_rate * (g + weight_decay * w)
///
/// Source: Robbins and Monro, "A Stochastic Approximation Method" (1951).
class SgdOptimizer final : public UpdateRuleOptimizer {
 public:
  using Options = SgdOptions;
  SgdOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss, const SgdOptions& options)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)), options_(options) {}

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    dispatch(RealTypes{}, gradient.dtype(), "optimizer sgd", [&]<class T>() {
      const T rate = T(options_.learning_rate), decay = T(options_.weight_decay);
      const T* __restrict g = gradient.data<T>();
      T* __restrict w = parameter.value.data<T>();
      detail::sweep(gradient.elements(), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) w[i] -= rate * (g[i] + decay * w[i]);
      });
    });
  }

  [[nodiscard]] ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}

 private:
  SgdOptions options_;
};

}  // namespace

namespace optimizer {

void register_sgd(Registry<OptimizerEntry>& registry) {
  registry.add("sgd", OptimizerEntry::of<SgdOptimizer>(
                          "stochastic gradient descent (Robbins and Monro, 1951)"));
}

}  // namespace optimizer
}  // namespace d5

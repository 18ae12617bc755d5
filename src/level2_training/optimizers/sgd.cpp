// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/level2_training/optimizer.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

struct SgdOptions {
  double learning_rate = 0.01;
  double weight_decay = 0;  ///< times the parameter, added to its gradient
};

/// w <- w - learning_rate * (g + weight_decay * w)
///
/// Source: Robbins and Monro, "A Stochastic Approximation Method" (1951).
class SgdOptimizer final : public UpdateRuleOptimizer {
 public:
  SgdOptimizer(std::unique_ptr<GraphExecutor> executor, std::string loss, const SgdOptions& options)
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

 private:
  SgdOptions options_;
};

}  // namespace

namespace optimizer {

void register_sgd(Registry<OptimizerEntry>& registry) {
  registry.add(
      "sgd", {"stochastic gradient descent (Robbins and Monro, 1951)",
              [](auto executor, std::string loss, const Settings& settings) {
                const SgdOptions defaults;
                const SgdOptions options{
                    .learning_rate = settings.number("learning_rate", defaults.learning_rate),
                    .weight_decay = settings.number("weight_decay", defaults.weight_decay)};
                settings.expect_all_read();
                if (!(options.learning_rate >= 0) || !(options.weight_decay >= 0)) {
                  throw ValueError(
                      fmt::format("optimizer sgd: learning_rate {}, weight_decay {}; expected none "
                                  "below 0",
                                  options.learning_rate, options.weight_decay));
                }
                return std::make_unique<SgdOptimizer>(std::move(executor), std::move(loss),
                                                      options);
              }});
}

}  // namespace optimizer
}  // namespace d5

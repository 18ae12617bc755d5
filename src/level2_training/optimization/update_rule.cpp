// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/update_rule.hpp"

#include <fmt/format.h>

#include <typeinfo>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"

namespace d5 {
namespace {

/// The smallest executor for which an optimizer can be created.
std::shared_ptr<GraphExecutor> executor_of_one_number() {
  Network network("one number");
  network.add_parameter("w", Tensor::zeros(DType::float32, {1}));
  network.add_node("ReduceSum", {"w"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return make_executor(std::move(network));
}

}  // namespace

bool UpdateRule::has_formula_of(const UpdateRule& other) const {
  return typeid(*this) == typeid(other);
}

std::unique_ptr<UpdateRule> make_update_rule(const std::string& optimizer,
                                             const Settings& settings) {
  const auto made = optimizers().at(optimizer).make(executor_of_one_number(), "loss", settings);
  if (const auto* slotted = dynamic_cast<const SlottedOptimizer*>(made.get())) {
    auto groups = slotted->rule_groups();
    if (!groups.empty()) return std::move(groups.front().rule);
  }
  throw Unsupported(fmt::format(
      "optimizer {}: its rule cannot stand alone, because it needs more than one parameter, its "
      "gradient and its state; one made of ElementOptimizer or TensorOptimizer can",
      optimizer));
}

}  // namespace d5

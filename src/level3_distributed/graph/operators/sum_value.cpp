// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class SumValueKernel final : public detail::GroupKernel {
 public:
  using GroupKernel::GroupKernel;
  void backward(GradContext& context) override {
    context.grad_input(0).copy_from(context.grad_output(0));
  }

 private:
  void run(OpContext& context) override {
    context.output(0).copy_from(context.input(0));
    ranks().all_reduce(context.output(0));
  }
};

/// The sum over the ranks; its gradient is passed to each rank unchanged, for a loss that each rank
/// computes and that counts once.
class SumValue final : public detail::GroupOperator {
 public:
  explicit SumValue(const onnx::Node& node) : GroupOperator(node) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<SumValueKernel>(ranks());
  }
};

}  // namespace

void register_sum_value(OperatorRegistry& registry) {
  registry.add<SumValue>("SumValue", {.domain = "d5"});
}

}  // namespace d5::communication_operator

// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

enum class Of { sum, mean };

class ReducedGradientKernel final : public Kernel {
 public:
  ReducedGradientKernel(std::shared_ptr<Communicator> ranks, Of of)
      : ranks_(std::move(ranks)), of_(of) {}
  void forward(OpContext& context) override { context.output(0).copy_from(context.input(0)); }
  void backward(GradContext& context) override {
    Tensor& gradient = context.grad_input(0);
    gradient.copy_from(context.grad_output(0));
    ranks_->all_reduce(gradient);
    if (of_ == Of::mean) ranks_->scale_local(gradient, 1.0 / ranks_->size());
  }
  [[nodiscard]] KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 private:
  std::shared_ptr<Communicator> ranks_;
  Of of_;
};

/// The identity, whose gradient is reduced over the ranks.
template <Of of>
class ReducedGradient final : public detail::GroupOperator {
 public:
  explicit ReducedGradient(const onnx::Node& node) : GroupOperator(node) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<ReducedGradientKernel>(ranks(), of);
  }
};

}  // namespace

void register_reduced_gradient(OperatorRegistry& registry) {
  registry.add<ReducedGradient<Of::mean>>("AverageGradient", {.domain = "d5"});
  registry.add<ReducedGradient<Of::sum>>("SumGradient", {.domain = "d5"});
}

}  // namespace d5::communication_operator

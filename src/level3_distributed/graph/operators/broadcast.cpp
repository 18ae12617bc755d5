// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class BroadcastKernel final : public detail::GroupKernel {
 public:
  BroadcastKernel(std::shared_ptr<Communicator> ranks, int root)
      : GroupKernel(std::move(ranks)), root_(root) {}
  /// All-reduces, because a group has no reduction to a single rank.
  void backward(GradContext& context) override {
    Tensor& gradient = context.grad_input(0);
    gradient.copy_from(context.grad_output(0));
    ranks().all_reduce(gradient);
    if (ranks().rank() != root_)
      gradient.copy_from(Tensor::zeros(gradient.dtype(), gradient.shape()));
  }

 private:
  void run(OpContext& context) override {
    Tensor& output = context.output(0);
    output.copy_from(context.input(0));
    ranks().broadcast(output, root_);
  }
  int root_;
};

class BroadcastOperator final : public detail::GroupOperator {
 public:
  explicit BroadcastOperator(const onnx::Node& node)
      : GroupOperator(node), root_(detail::rank_attribute(node, "root")) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<BroadcastKernel>(ranks(), root_);
  }

 private:
  int root_;
};

}  // namespace

void register_broadcast(OperatorRegistry& registry) {
  registry.add<BroadcastOperator>("Broadcast", {.domain = "d5"});
}

}  // namespace d5::communication_operator

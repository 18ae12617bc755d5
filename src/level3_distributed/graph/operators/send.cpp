// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class SendKernel final : public detail::GroupKernel {
 public:
  SendKernel(std::shared_ptr<Communicator> ranks, int to, int tag)
      : GroupKernel(std::move(ranks)), to_(to), tag_(tag) {}
  void backward(GradContext& context) override {
    ranks().receive(context.grad_input(0), to_, tag_);
  }

 private:
  void run(OpContext& context) override { ranks().send(context.input(0), to_, tag_); }
  int to_, tag_;
};

class SendOperator final : public detail::GroupOperator {
 public:
  explicit SendOperator(const onnx::Node& node)
      : GroupOperator(node),
        to_(detail::rank_attribute(node, "to")),
        tag_(detail::tag_attribute(node)) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), {0}}};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<SendKernel>(ranks(), to_, tag_);
  }

 private:
  int to_, tag_;
};

}  // namespace

void register_send(OperatorRegistry& registry) {
  registry.add<SendOperator>("Send", {.domain = "d5"});
}

}  // namespace d5::communication_operator

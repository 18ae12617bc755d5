// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class AllGatherKernel final : public detail::GroupKernel {
 public:
  using GroupKernel::GroupKernel;
  void backward(GradContext& context) override {
    ranks().reduce_scatter(context.grad_output(0), context.grad_input(0));
  }

 private:
  void run(OpContext& context) override { ranks().all_gather(context.input(0), context.output(0)); }
};

class AllGatherOperator final : public detail::GroupOperator {
 public:
  explicit AllGatherOperator(const onnx::Node& node) : GroupOperator(node) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {with_rows(context, rows(context) * ranks()->size())};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<AllGatherKernel>(ranks());
  }
};

}  // namespace

void register_all_gather(OperatorRegistry& registry) {
  registry.add<AllGatherOperator>("AllGather", {.domain = "d5"});
}

}  // namespace d5::communication_operator

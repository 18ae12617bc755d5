// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class ReduceScatterKernel final : public detail::GroupKernel {
 public:
  using GroupKernel::GroupKernel;
  void backward(GradContext& context) override {
    ranks().all_gather(context.grad_output(0), context.grad_input(0));
  }

 private:
  void run(OpContext& context) override {
    ranks().reduce_scatter(context.input(0), context.output(0));
  }
};

class ReduceScatterOperator final : public detail::GroupOperator {
 public:
  explicit ReduceScatterOperator(const onnx::Node& node) : GroupOperator(node) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    const int size = ranks()->size();
    if (rows(context) % size == 0) return {with_rows(context, rows(context) / size)};
    throw ShapeError(fmt::format("{}: input 0 is {}, expected rows that {} ranks can share equally",
                                 context.who(), to_string(context.input(0)), size));
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<ReduceScatterKernel>(ranks());
  }
};

}  // namespace

void register_reduce_scatter(OperatorRegistry& registry) {
  registry.add<ReduceScatterOperator>("ReduceScatter", {.domain = "d5"});
}

}  // namespace d5::communication_operator

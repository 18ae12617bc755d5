// SPDX-License-Identifier: Apache-2.0
// If: one of two graphs.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

class IfKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const bool condition = context.input(0).item<bool>();
    SubgraphRunner& branch = context.services().subgraph(condition ? "then_branch" : "else_branch");
    std::vector<Value> results = branch.run({});
    if (results.size() < context.outputs.size()) {
      throw ShapeError(fmt::format("{}: the branch has {} outputs but the node has {}",
                                   context.who(), results.size(), context.outputs.size()));
    }
    for (std::size_t i = 0; i < context.outputs.size(); ++i) {
      if (context.wants_output(i)) context.set_output(i, std::move(results[i]));
    }
  }
};

/// What the outputs are, only the branch that is taken tells; the work is that of its nodes.
class If final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& condition = context.input(0);
    if (condition.dtype != DType::boolean || condition.shape.elements() != 1) {
      throw TypeError(fmt::format("{}: the condition is {}, expected one bool", context.who(),
                                  to_string(condition)));
    }
    return std::vector<ValueDesc>(context.output_count());
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override { return std::make_unique<IfKernel>(); }
};

}  // namespace

void register_if(OperatorRegistry& registry) { registry.add<If, onnx::nodes::If>(); }

}  // namespace d5::ops

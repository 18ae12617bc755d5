// SPDX-License-Identifier: Apache-2.0
// If: one of two graphs.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/given_output.hpp"

namespace d5::ops {
namespace {

class IfKernel final : public Kernel {
 public:
  explicit IfKernel(bool goes_back) : goes_back_(goes_back) {}

  void forward(OpContext& context) override {
    const bool condition = context.input(0).item<bool>();
    branch_ = &context.services().subgraph(condition ? "then_branch" : "else_branch");
    if (goes_back_) branch_->keep_runs({});
    const std::span<const Value> results = branch_->run({});
    if (results.size() < context.outputs.size()) {
      throw ShapeError(fmt::format("{}: the branch has {} outputs but the node has {}",
                                   context.who(), results.size(), context.outputs.size()));
    }
    for (std::size_t i = 0; i < context.outputs.size(); ++i) {
      if (context.wants_output(i)) detail::give_output(context, i, results[i]);
    }
  }

  void backward(GradContext& context) override {
    std::vector<Tensor> arriving(branch_->output_count());
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      if (context.has_grad_output(k)) arriving[k] = context.grad_output(k);
    }
    branch_->run_backward(arriving);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  bool goes_back_;
  SubgraphRunner* branch_ = nullptr;  ///< taken by forward
};

/// The outputs are known only at run time, from the branch that is taken; the work is counted at
/// its nodes.
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

  /// Gradients of captured values; the condition has none.
  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<IfKernel>(context.wants_backward());
  }
};

}  // namespace

void register_if(OperatorRegistry& registry) { registry.add<If, onnx::nodes::If>(); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Loop: a graph run again and again on its own results.
#include <fmt/format.h>

#include <limits>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/stack_values.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Loop;

/// The body takes iteration number, condition and variables; it gives condition, variables and what
/// is stacked along a new first dimension.
class LoopKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    RunServices& services = context.services();
    SubgraphRunner& body = services.subgraph("body");
    const std::size_t fixed = View::In::v_initial;
    const std::size_t variables = context.input_count() - fixed;
    if (body.input_count() != fixed + variables || body.output_count() < 1 + variables ||
        body.output_count() < 1 + context.output_count()) {
      throw ShapeError(fmt::format(
          "{}: {} variables are given and {} outputs wanted, but the body has {} inputs and {} "
          "outputs",
          context.who(), variables, context.output_count(), body.input_count(),
          body.output_count()));
    }
    const std::int64_t most = context.has_input(View::In::M)
                                  ? context.input(View::In::M).item<std::int64_t>()
                                  : std::numeric_limits<std::int64_t>::max();
    bool goes_on = !context.has_input(View::In::cond) || context.input(View::In::cond).item<bool>();
    std::vector<Value> arguments(fixed + variables);
    for (std::size_t k = 0; k < variables; ++k) {
      if (context.has_input(fixed + k)) arguments[fixed + k] = context.input_value(fixed + k);
    }
    std::vector<std::vector<Value>> stacks(body.output_count() - 1 - variables);
    std::int64_t iteration = 0;
    for (; iteration < most && goes_on; ++iteration) {
      if (iteration == services.iteration_budget()) {
        throw ValueError(fmt::format("{}: the loop did not end within {} iterations, the budget",
                                     context.who(), iteration));
      }
      arguments[View::In::M] = Tensor::scalar(iteration);
      arguments[View::In::cond] = Tensor::scalar(goes_on);
      std::vector<Value> results = body.run(arguments);
      goes_on = results[0].tensor().item<bool>();
      for (std::size_t k = 0; k < variables; ++k) arguments[fixed + k] = std::move(results[1 + k]);
      for (std::size_t k = 0; k < stacks.size(); ++k) {
        stacks[k].push_back(std::move(results[1 + variables + k]));
      }
    }
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      if (k >= variables) {
        context.set_output(k, stacked(context, stacks[k - variables], 1 + k));
      } else if (iteration == 0 && arguments[fixed + k].is_tensor()) {
        context.set_output(k, arguments[fixed + k].tensor().copy());
      } else {
        context.set_output(k, std::move(arguments[fixed + k]));
      }
    }
  }

 private:
  static Value stacked(const OpContext& context, const std::vector<Value>& slices,
                       std::size_t body_output) {
    if (!slices.empty()) return detail::stack_values(context, slices);
    // No iteration tells the type: what the body declares, with 0 for what it leaves open.
    const auto body = View(context.node()).body();
    const onnx::Type& type = body->outputs[body_output].type;
    Shape shape{0};
    for (const onnx::Dim& dim : type.dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size ? *size : 0);
    }
    return Tensor::empty(type.dtype, shape);
  }
};

/// What the outputs are, only running tells; the work is that of the nodes of the body.
class Loop final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return std::vector<ValueDesc>(context.output_count());
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<LoopKernel>();
  }
};

}  // namespace

void register_loop(OperatorRegistry& registry) { registry.add<Loop, View>(); }

}  // namespace d5::ops

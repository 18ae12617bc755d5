// SPDX-License-Identifier: Apache-2.0
// Loop: runs a graph repeatedly on its own results.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/given_output.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"

namespace d5::ops {
namespace {

using LoopView = onnx::nodes::Loop;

/// The body's inputs are iteration number, condition and variables; its outputs are condition,
/// variables and tensors that are stacked along a new first dimension.
class LoopKernel final : public Kernel {
 public:
  explicit LoopKernel(bool goes_back) : goes_back_(goes_back) {}

  void forward(OpContext& context) override {
    RunServices& services = context.services();
    SubgraphRunner& body = services.subgraph("body");
    // A variable propagates gradients even if its own is not wanted.
    if (goes_back_) body.keep_runs(Places::all());
    const std::size_t fixed = LoopView::In::v_initial;
    const std::size_t variables = context.input_count() - fixed;
    if (body.input_count() != fixed + variables || body.output_count() < 1 + variables ||
        body.output_count() < 1 + context.output_count()) {
      throw ShapeError(fmt::format(
          "{}: {} variables are given and {} outputs wanted, but the body has {} inputs and {} "
          "outputs",
          context.who(), variables, context.output_count(), body.input_count(),
          body.output_count()));
    }
    const std::int64_t most = context.has_input(LoopView::In::M)
                                  ? context.input(LoopView::In::M).item<std::int64_t>()
                                  : std::numeric_limits<std::int64_t>::max();
    bool goes_on =
        !context.has_input(LoopView::In::cond) || context.input(LoopView::In::cond).item<bool>();
    arguments_.resize(fixed + variables);
    for (std::size_t k = 0; k < variables; ++k) {
      if (context.has_input(fixed + k)) {
        arguments_[fixed + k] = context.input_value(fixed + k);
      } else {
        arguments_[fixed + k] = Value();
      }
    }
    stacks_.resize(body.output_count() - 1 - variables);
    for (auto& stack : stacks_) stack.begin(iterations_);  // as many as in the previous run
    std::int64_t iteration = 0;
    for (; iteration < most && goes_on; ++iteration) {
      if (iteration == services.iteration_budget()) {
        throw ValueError(fmt::format("{}: the loop did not end within {} iterations, the budget",
                                     context.who(), iteration));
      }
      write<std::int64_t>(services, LoopView::In::M, iteration);
      write<bool>(services, LoopView::In::cond, goes_on);
      const std::span<const Value> results = body.run(arguments_);
      goes_on = results[0].tensor().item<bool>();
      for (std::size_t k = 0; k < variables; ++k) arguments_[fixed + k] = results[1 + k];
      for (std::size_t k = 0; k < stacks_.size(); ++k) {
        stacks_[k].add(context, results[1 + variables + k].tensor());
      }
    }
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      if (k >= variables) {
        give_stack(context, k, stacks_[k - variables], 1 + k);
      } else if (iteration == 0 && arguments_[fixed + k].is_tensor()) {
        context.set_output(k, detail::copy_of(services, arguments_[fixed + k].tensor()));
      } else {
        detail::give_output(context, k, arguments_[fixed + k]);
      }
    }
    body_ = &body;
    services_ = &services;
    iterations_ = iteration;
  }

  void backward(GradContext& context) override {
    const std::size_t fixed = LoopView::In::v_initial;
    const std::size_t variables = context.input_count() - fixed;
    std::vector<Tensor> arriving(body_->output_count());  // condition, variables, slices
    for (std::size_t k = 0; k < variables; ++k) {
      if (context.has_grad_output(k)) arriving[1 + k] = context.grad_output(k);
    }
    for (std::int64_t t = iterations_ - 1; t >= 0; --t) {
      for (std::size_t k = variables; k < context.output_count(); ++k) {
        if (!context.has_grad_output(k)) continue;
        arriving[1 + k] = detail::slice_of(*services_, context.grad_output(k), 0, t);
      }
      std::vector<Tensor> made = body_->run_backward(arriving);
      for (std::size_t k = 0; k < variables; ++k) arriving[1 + k] = std::move(made[fixed + k]);
    }
    for (std::size_t k = 0; k < variables; ++k) {
      detail::give_gradient(context, fixed + k, arriving[1 + k]);
    }
  }

  /// Backward runs the first iteration again on the initial values.
  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  /// Memory kept for backward must not change.
  template <class T>
  void write(RunServices& services, std::size_t place, T value) {
    arguments_[place] =
        scalars_[place].take({.dtype = dtype_of<T>, .shape = {}},
                             [&](const auto& desc) { return services.allocate(desc); });
    *arguments_[place].tensor().data<T>() = value;
  }

  static void give_stack(OpContext& context, std::size_t k, detail::StackedSlices& stack,
                         std::size_t body_output) {
    if (!stack.empty()) return detail::give_output(context, k, stack.whole(context));
    // Without iterations, the body's declaration determines the type, with 0 for open sizes.
    const auto body = LoopView(context.node()).body();
    const onnx::Type& type = body->outputs[body_output].type;
    Shape shape{0};
    for (const onnx::Dim& dim : type.dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size ? *size : 0);
    }
    context.set_output(k, context.services().allocate({.dtype = type.dtype, .shape = shape}));
  }

  bool goes_back_;
  std::vector<Value> arguments_;
  std::array<detail::RecycledTensors, LoopView::In::v_initial> scalars_;
  std::vector<detail::StackedSlices> stacks_;
  // State of the last run.
  SubgraphRunner* body_ = nullptr;
  RunServices* services_ = nullptr;
  std::int64_t iterations_ = 0;
};

/// The outputs are known only at run time; the work is counted at the body's nodes.
class Loop final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return std::vector<ValueDesc>(context.output_count());
  }
  /// Gradients of variables and captured values.
  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<LoopKernel>(context.wants_backward());
  }
};

}  // namespace

void register_loop(OperatorRegistry& registry) { registry.add<Loop, LoopView>(); }

}  // namespace d5::ops

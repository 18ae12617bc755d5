// SPDX-License-Identifier: Apache-2.0
// Scan: runs a graph over the slices of tensors, with a state.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/given_output.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"
#include "level0_ops/kernels/recurrent/scan_sequence.hpp"

namespace d5::ops {
namespace {

using ScanView = onnx::nodes::Scan;
using Integers = std::vector<std::int64_t>;

/// Attributes of the scanned inputs and outputs; the default is axis 0, forward.
struct Scanned {
  explicit Scanned(const ScanView& view)
      : inputs(std::size_t(view.num_scan_inputs())),
        input_axes(view.scan_input_axes().value_or(Integers())),
        input_directions(view.scan_input_directions().value_or(Integers())),
        output_axes(view.scan_output_axes().value_or(Integers())),
        output_directions(view.scan_output_directions().value_or(Integers())) {}

  std::size_t inputs;
  Integers input_axes, input_directions, output_axes, output_directions;
};

/// A direction of 1 means backwards.
class ScanKernel final : public Kernel {
 public:
  /// `grad_inputs` is nothing if the kernel runs forward only.
  ScanKernel(const Scanned& scanned, std::optional<Places> grad_inputs)
      : scanned_(scanned), grad_inputs_(grad_inputs) {}

  void forward(OpContext& context) override {
    body_ = &context.services().subgraph("body");
    services_ = &context.services();
    if (grad_inputs_) body_->keep_runs(*grad_inputs_);
    const std::size_t states = context.input_count() - scanned_.inputs;
    std::vector<Value> initial;
    for (std::size_t k = 0; k < states; ++k) initial.push_back(context.input_value(k));
    std::vector<detail::ScannedTensor> inputs;
    for (std::size_t k = 0; k < scanned_.inputs; ++k) {
      inputs.push_back(scanned_input(context, k, context.input(states + k)));
    }
    const std::int64_t length = common_length(context, inputs);
    stacks_.resize(context.output_count() - states);
    for (std::size_t k = 0; k < stacks_.size(); ++k) {
      stacks_[k].begin(length, at(scanned_.output_axes, k), at(scanned_.output_directions, k) != 0);
    }
    const auto finals = detail::scan_sequence(context, initial, inputs, length, stacks_, slices_);
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      if (k < states) {
        if (length == 0) {
          context.set_output(k, detail::copy_of(context.services(), finals[k].tensor()));
        } else {
          detail::give_output(context, k, finals[k]);
        }
        continue;
      }
      auto& stack = stacks_[k - states];
      if (stack.empty()) {
        throw ShapeError(fmt::format("{}: there is nothing to scan, and no shape for output {}",
                                     context.who(), k));
      }
      detail::give_output(context, k, stack.whole(context));
    }
    length_ = length;
  }

  void backward(GradContext& context) override {
    const std::size_t states = context.input_count() - scanned_.inputs;
    std::vector<Tensor> arriving(states);
    for (std::size_t k = 0; k < states; ++k) {
      if (context.has_grad_output(k)) arriving[k] = context.grad_output(k);
    }
    std::vector<detail::ScannedTensor> stacks(context.output_count() - states), inputs;
    for (std::size_t k = 0; k < stacks.size(); ++k) {
      if (!context.has_grad_output(states + k)) continue;
      const Tensor& x = context.grad_output(states + k);
      const std::size_t axis =
          normalize_axis(at(scanned_.output_axes, k), x.shape().rank(), context.who());
      stacks[k] = {x, axis, at(scanned_.output_directions, k) != 0};
    }
    for (std::size_t k = 0; k < scanned_.inputs; ++k) {
      detail::ScannedTensor& input = inputs.emplace_back();
      if (!context.wants_grad(states + k)) continue;
      detail::give_gradient(context, states + k, {});
      input = scanned_input(context, k, context.grad_input(states + k));
    }
    detail::scan_back(*body_, *services_, arriving, stacks, inputs, length_);
    for (std::size_t k = 0; k < states; ++k) detail::give_gradient(context, k, arriving[k]);
  }

  /// Backward runs the first slice again on the initial states.
  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  template <class Context>
  [[nodiscard]] detail::ScannedTensor scanned_input(const Context& context, std::size_t k,
                                                    const Tensor& x) const {
    const std::size_t axis =
        normalize_axis(at(scanned_.input_axes, k), x.shape().rank(), context.who());
    return {x, axis, at(scanned_.input_directions, k) != 0};
  }

  static std::int64_t at(const Integers& values, std::size_t k) {
    return k < values.size() ? values[k] : 0;
  }

  static std::int64_t common_length(const OpContext& context,
                                    std::span<const detail::ScannedTensor> inputs) {
    const std::int64_t first = inputs[0].x.shape()[inputs[0].axis];
    for (const auto& [x, axis, backwards] : inputs) {
      if (x.shape()[axis] != first) {
        throw ShapeError(fmt::format("{}: scanned inputs have {} and {} slices", context.who(),
                                     first, x.shape()[axis]));
      }
    }
    return first;
  }

  Scanned scanned_;
  std::optional<Places> grad_inputs_;
  std::vector<detail::StackedSlices> stacks_;
  std::vector<detail::RecycledTensors> slices_;
  // State of the last run.
  SubgraphRunner* body_ = nullptr;
  RunServices* services_ = nullptr;
  std::int64_t length_ = 0;
};

/// The outputs are known only at run time; the work is counted at the body's nodes.
class Scan final : public MovingOperator {
 public:
  explicit Scan(const ScanView& view) : scanned_(view) {
    const onnx::Node& node = view.node();
    if (view.num_scan_inputs() < 1 || scanned_.inputs > node.inputs.size()) {
      throw ValueError(fmt::format("{}: num_scan_inputs is {} but there are {} inputs",
                                   onnx::describe(node), view.num_scan_inputs(),
                                   node.inputs.size()));
    }
  }
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return std::vector<ValueDesc>(context.output_count());
  }
  /// Gradients of states, scanned inputs and captured values.
  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (!context.wants_backward()) return std::make_unique<ScanKernel>(scanned_, std::nullopt);
    // A state propagates gradients even if its own is not wanted.
    Places wanted;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (i + scanned_.inputs < context.input_count() || context.wants_grad(i)) wanted.add(i);
    }
    return std::make_unique<ScanKernel>(scanned_, wanted);
  }

 private:
  Scanned scanned_;
};

}  // namespace

// Version 8 had batches and lengths: scan_of_batches.cpp.
void register_scan(OperatorRegistry& registry) {
  registry.add(std::string(ScanView::kName), {.since = 9},
               [](const onnx::Node& node) { return std::make_unique<Scan>(ScanView(node)); });
}

}  // namespace d5::ops

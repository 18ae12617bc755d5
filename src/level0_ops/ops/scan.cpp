// SPDX-License-Identifier: Apache-2.0
// Scan: a graph run over the slices of tensors, with a state.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/scan_sequence.hpp"
#include "level0_ops/kernels/stack_values.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Scan;
using Integers = std::vector<std::int64_t>;

/// What the attributes say of the inputs and outputs that are scanned; by default axis 0, forward.
struct Scanned {
  explicit Scanned(const View& view)
      : inputs(std::size_t(view.num_scan_inputs())),
        input_axes(view.scan_input_axes().value_or(Integers())),
        input_directions(view.scan_input_directions().value_or(Integers())),
        output_axes(view.scan_output_axes().value_or(Integers())),
        output_directions(view.scan_output_directions().value_or(Integers())) {}

  std::size_t inputs;
  Integers input_axes, input_directions, output_axes, output_directions;
};

/// A direction of 1 goes backwards.
class ScanKernel final : public Kernel {
 public:
  explicit ScanKernel(const Scanned& scanned) : scanned_(scanned) {}

  void forward(OpContext& context) override {
    const std::size_t states = context.input_count() - scanned_.inputs;
    std::vector<Value> initial;
    for (std::size_t k = 0; k < states; ++k) initial.push_back(context.input_value(k));
    std::vector<detail::ScannedInput> inputs;
    for (std::size_t k = 0; k < scanned_.inputs; ++k) {
      const Tensor& x = context.input(states + k);
      const std::size_t axis =
          normalize_axis(at(scanned_.input_axes, k), x.shape().rank(), context.who());
      inputs.push_back({x, axis, at(scanned_.input_directions, k) != 0});
    }
    const std::int64_t length = common_length(context, inputs);
    auto [finals, stacks] = detail::scan_sequence(context, initial, inputs, length);
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      if (k < states) {
        context.set_output(k,
                           length == 0 ? Value(finals[k].tensor().copy()) : std::move(finals[k]));
        continue;
      }
      auto& stack = stacks[k - states];
      if (stack.empty()) {
        throw ShapeError(fmt::format("{}: there is nothing to scan, and no shape for output {}",
                                     context.who(), k));
      }
      if (at(scanned_.output_directions, k - states)) std::reverse(stack.begin(), stack.end());
      context.set_output(
          k, detail::stack_values(context, stack, at(scanned_.output_axes, k - states)));
    }
  }

 private:
  static std::int64_t at(const Integers& values, std::size_t k) {
    return k < values.size() ? values[k] : 0;
  }

  static std::int64_t common_length(const OpContext& context,
                                    std::span<const detail::ScannedInput> inputs) {
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
};

/// What the outputs are, only running tells; the work is that of the nodes of the body.
class Scan final : public MovingOperator {
 public:
  explicit Scan(const View& view) : scanned_(view) {
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
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<ScanKernel>(scanned_);
  }

 private:
  Scanned scanned_;
};

}  // namespace

// Version 8 had batches and lengths: scan_of_batches.cpp.
void register_scan(OperatorRegistry& registry) {
  registry.add(std::string(View::kName), {.since = 9},
               [](const onnx::Node& node) { return std::make_unique<Scan>(View(node)); });
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Scan: a graph run over the slices of tensors, with a state.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/element_moving.hpp"
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

/// The body takes states and one slice of each scanned input; it gives states and slices that are
/// stacked. A direction of 1 goes backwards.
class ScanKernel final : public Kernel {
 public:
  explicit ScanKernel(const Scanned& scanned) : scanned_(scanned) {}

  void forward(OpContext& context) override {
    SubgraphRunner& body = context.services().subgraph("body");
    const std::size_t states = context.input_count() - scanned_.inputs;
    if (body.input_count() != context.input_count() || body.output_count() < states ||
        body.output_count() < context.output_count()) {
      throw ShapeError(
          fmt::format("{}: {} inputs, {} states and {} outputs do not fit a body of {} inputs and "
                      "{} outputs",
                      context.who(), context.input_count(), states, context.output_count(),
                      body.input_count(), body.output_count()));
    }
    const std::int64_t length = common_length(context, states);
    if (length > context.services().iteration_budget()) {
      throw ValueError(fmt::format("{}: {} slices exceed the budget of {} iterations",
                                   context.who(), length, context.services().iteration_budget()));
    }
    std::vector<Value> arguments(context.input_count());
    for (std::size_t k = 0; k < states; ++k) arguments[k] = context.input_value(k);
    std::vector<std::vector<Value>> stacks(body.output_count() - states);
    for (std::int64_t t = 0; t < length; ++t) {
      for (std::size_t k = 0; k < scanned_.inputs; ++k) {
        arguments[states + k] =
            slice(context, states, k, at(scanned_.input_directions, k) ? length - 1 - t : t);
      }
      std::vector<Value> results = body.run(arguments);
      for (std::size_t k = 0; k < states; ++k) arguments[k] = std::move(results[k]);
      for (std::size_t k = 0; k < stacks.size(); ++k) {
        stacks[k].push_back(std::move(results[states + k]));
      }
    }
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      if (k < states) {
        context.set_output(
            k, length == 0 ? Value(arguments[k].tensor().copy()) : std::move(arguments[k]));
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

  [[nodiscard]] std::size_t axis(const OpContext& context, std::size_t states,
                                 std::size_t k) const {
    return normalize_axis(at(scanned_.input_axes, k), context.input(states + k).shape().rank(),
                          context.who());
  }

  [[nodiscard]] std::int64_t common_length(const OpContext& context, std::size_t states) const {
    const std::int64_t first = context.input(states).shape()[axis(context, states, 0)];
    for (std::size_t k = 1; k < scanned_.inputs; ++k) {
      const std::int64_t length = context.input(states + k).shape()[axis(context, states, k)];
      if (length != first) {
        throw ShapeError(
            fmt::format("{}: scanned inputs have {} and {} slices", context.who(), first, length));
      }
    }
    return first;
  }

  [[nodiscard]] Value slice(const OpContext& context, std::size_t states, std::size_t k,
                            std::int64_t t) const {
    const Tensor& x = context.input(states + k);
    const std::size_t d = axis(context, states, k), rank = x.shape().rank();
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != d) shape.push_back(x.shape()[i]);
    }
    Tensor result = context.services().allocate(TensorDesc{x.dtype(), shape});
    detail::TensorPart(x.desc(), d, t, 1).cut(x, result);
    return result;
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

// Version 8 had batches and lengths, and was replaced by the next one.
void register_scan(OperatorRegistry& registry) {
  registry.add(std::string(View::kName), {.since = 9},
               [](const onnx::Node& node) { return std::make_unique<Scan>(View(node)); });
}

}  // namespace d5::ops

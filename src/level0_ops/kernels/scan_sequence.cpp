// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/scan_sequence.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/subgraph_runner.hpp"
#include "level0_ops/kernels/element_moving.hpp"

namespace d5::detail {

Tensor slice_of(const OpContext& context, const Tensor& x, std::size_t axis, std::int64_t i) {
  Shape shape;
  for (std::size_t d = 0; d < x.shape().rank(); ++d) {
    if (d != axis) shape.push_back(x.shape()[d]);
  }
  Tensor result = context.services().allocate(TensorDesc{x.dtype(), shape});
  TensorPart(x.desc(), axis, i, 1).cut(x, result);
  return result;
}

ScanResult scan_sequence(const OpContext& context, std::vector<Value> states,
                         std::span<const ScannedInput> inputs, std::int64_t length) {
  SubgraphRunner& body = context.services().subgraph("body");
  const std::size_t count = states.size();
  if (body.input_count() != count + inputs.size() || body.output_count() < count ||
      body.output_count() < context.output_count()) {
    throw ShapeError(
        fmt::format("{}: {} inputs, {} states and {} outputs do not fit a body of {} inputs and {} "
                    "outputs",
                    context.who(), count + inputs.size(), count, context.output_count(),
                    body.input_count(), body.output_count()));
  }
  if (length > context.services().iteration_budget()) {
    throw ValueError(fmt::format("{}: {} slices exceed the budget of {} iterations", context.who(),
                                 length, context.services().iteration_budget()));
  }
  ScanResult result{std::move(states), {}};
  result.stacks.resize(body.output_count() - count);
  std::vector<Value> arguments(count + inputs.size());
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::size_t k = 0; k < count; ++k) arguments[k] = std::move(result.states[k]);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto& [x, axis, backwards] = inputs[k];
      arguments[count + k] = slice_of(context, x, axis, backwards ? length - 1 - t : t);
    }
    std::vector<Value> made = body.run(arguments);
    for (std::size_t k = 0; k < count; ++k) result.states[k] = std::move(made[k]);
    for (std::size_t k = 0; k < result.stacks.size(); ++k) {
      result.stacks[k].push_back(std::move(made[count + k]));
    }
  }
  return result;
}

}  // namespace d5::detail

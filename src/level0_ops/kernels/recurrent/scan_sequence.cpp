// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/recurrent/scan_sequence.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"

namespace d5::detail {

namespace {

/// The index of the `t`-th visited slice of `length`.
std::int64_t place_of(const ScannedTensor& scanned, std::int64_t t, std::int64_t length) {
  return scanned.backwards ? length - 1 - t : t;
}

/// Slices along axis 0 are contiguous.
void cut_slice(const ScannedTensor& scanned, std::int64_t place, Tensor& slice) {
  const Tensor& x = scanned.x;
  if (scanned.axis == 0) {
    copy_elements(x.dtype(), slice.raw(), element(x, place * slice.elements()), slice.elements());
  } else {
    TensorPart(x.desc(), scanned.axis, place, 1).cut(x, slice);
  }
}

}  // namespace

std::vector<Value> scan_sequence(const OpContext& context, std::vector<Value> states,
                                 std::span<const ScannedTensor> inputs, std::int64_t length,
                                 std::span<StackedSlices> stacks,
                                 std::vector<RecycledTensors>& memory) {
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
  std::vector<Value> arguments = std::move(states);
  arguments.resize(count + inputs.size());
  memory.resize(inputs.size());
  std::vector<TensorDesc> slices;
  for (const auto& [x, axis, backwards] : inputs) slices.push_back(slice_desc(x.desc(), axis));
  const auto allocate = [&](const TensorDesc& desc) { return context.services().allocate(desc); };
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      Value& argument = arguments[count + k];
      argument = memory[k].take(slices[k], allocate);
      cut_slice(inputs[k], place_of(inputs[k], t, length), argument.tensor());
    }
    const std::span<const Value> made = body.run(arguments);
    for (std::size_t k = 0; k < count; ++k) arguments[k] = made[k];
    for (std::size_t k = 0; k < stacks.size(); ++k) {
      stacks[k].add(context, made[count + k].tensor());
    }
  }
  arguments.resize(count);
  return arguments;
}

void scan_back(SubgraphRunner& body, RunServices& services, std::vector<Tensor>& states,
               std::span<const ScannedTensor> stacks, std::span<const ScannedTensor> inputs,
               std::int64_t length) {
  const std::size_t count = states.size();
  std::vector<Tensor> arriving = std::move(states);
  arriving.resize(body.output_count());
  for (std::int64_t t = length - 1; t >= 0; --t) {
    for (std::size_t k = 0; k < stacks.size(); ++k) {
      const ScannedTensor& stack = stacks[k];
      if (!stack.x.defined()) continue;
      arriving[count + k] = slice_of(services, stack.x, stack.axis, place_of(stack, t, length));
    }
    std::vector<Tensor> made = body.run_backward(arriving);
    for (std::size_t k = 0; k < count; ++k) arriving[k] = std::move(made[k]);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k].x.defined() || !made[count + k].defined()) continue;
      Tensor into = inputs[k].x;
      TensorPart(into.desc(), inputs[k].axis, place_of(inputs[k], t, length), 1)
          .paste(made[count + k], into);
    }
  }
  arriving.resize(count);
  states = std::move(arriving);
}

}  // namespace d5::detail

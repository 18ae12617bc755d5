// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/op_context.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"
#include "level0_ops/kernels/recycled_tensors.hpp"

namespace d5::detail {

/// A tensor that a Scan visits slice by slice.
struct ScannedTensor {
  Tensor x = {};
  std::size_t axis = 0;
  bool backwards = false;
};

/// Runs the graph `body` of the context's node on the first `length` slices. Its inputs are states
/// and one slice of each input; its outputs are states, and slices that are added to `stacks`,
/// which must be begun. Further outputs are ignored. Returns the last states. Slices use `memory`,
/// which the caller keeps between runs, so that a steady state allocates nothing. Throws:
/// ShapeError if the body does not match; ValueError above the budget of iterations.
[[nodiscard]] std::vector<Value> scan_sequence(const OpContext& context, std::vector<Value> states,
                                               std::span<const ScannedTensor> inputs,
                                               std::int64_t length, std::span<StackedSlices> stacks,
                                               std::vector<RecycledTensors>& memory);

/// Runs backward through the `length` recorded runs of `body` by `scan_sequence`. `states` are the
/// gradients of the last states, and become those of the first ones. `stacks` are the gradients of
/// the stacked outputs. `inputs` is zero-filled memory for the gradients of the scanned inputs.
/// Undefined tensors denote gradients that do not arrive or are not wanted.
void scan_back(SubgraphRunner& body, RunServices& services, std::vector<Tensor>& states,
               std::span<const ScannedTensor> stacks, std::span<const ScannedTensor> inputs,
               std::int64_t length);

}  // namespace d5::detail

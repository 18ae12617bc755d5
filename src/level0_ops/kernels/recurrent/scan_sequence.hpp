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

/// A tensor that a Scan walks over, slice by slice.
struct ScannedTensor {
  Tensor x = {};
  std::size_t axis = 0;
  bool backwards = false;
};

/// Runs the graph `body` of the context's node on the first `length` slices. It takes states and
/// one slice of each input; it gives states, and slices that go to `stacks`, which were begun:
/// what it gives besides, nobody wants. Returns the last states. Slices lie in `memory`, which the
/// caller keeps from run to run: in a steady state none is allocated.
/// Throws: ShapeError where the body does not fit; ValueError above the budget of iterations.
[[nodiscard]] std::vector<Value> scan_sequence(const OpContext& context, std::vector<Value> states,
                                               std::span<const ScannedTensor> inputs,
                                               std::int64_t length, std::span<StackedSlices> stacks,
                                               std::vector<RecycledTensors>& memory);

/// Goes back through the `length` runs of `scan_sequence` by `body`, which kept them. `states` are
/// the gradients that reach the last states, and become those of the first ones; `stacks` are those
/// that reach what was stacked, and `inputs` is room for those of what was scanned, zeros.
/// Undefined tensors stand for gradients that do not arrive, or are not wanted.
void scan_back(SubgraphRunner& body, RunServices& services, std::vector<Tensor>& states,
               std::span<const ScannedTensor> stacks, std::span<const ScannedTensor> inputs,
               std::int64_t length);

}  // namespace d5::detail

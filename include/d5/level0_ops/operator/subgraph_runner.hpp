// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/places.hpp"

namespace d5 {

/// Runs a graph attribute of an operator (If, Loop, Scan, SequenceMap). Implemented by the executor
/// of level 1, which binds captured names.
///
/// Captured values count as additional inputs after the node's own. If an operator's `gradients()`
/// include them, its kernel must run backward through the graph's runs. The executor accumulates
/// their gradients; the kernel does not see them.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  [[nodiscard]] virtual std::size_t input_count() const = 0;
  [[nodiscard]] virtual std::size_t output_count() const = 0;
  /// Runs the graph on `inputs`, in the graph's order, and returns its outputs. The returned span
  /// is valid until the next run. The caller may keep values; memory of values that are not kept is
  /// reused.
  virtual std::span<Value> run(std::span<const Value> inputs) = 0;

  /// Discards recorded runs, and records later ones for `run_backward`. `grad_inputs` are the
  /// graph's inputs whose gradients are needed. The inputs of a recorded run must stay unchanged
  /// until its backward run.
  virtual void keep_runs(Places grad_inputs) = 0;
  /// Runs backward through the last recorded run, and discards it. `grad_outputs` has one tensor
  /// per output, undefined if no gradient reaches it. The result has one tensor per input,
  /// undefined if its gradient is not needed or none arrives.
  /// Throws: Unsupported if a node on the path has no gradient.
  virtual std::vector<Tensor> run_backward(std::span<const Tensor> grad_outputs) = 0;
};

}  // namespace d5

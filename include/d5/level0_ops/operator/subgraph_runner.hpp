// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/places.hpp"

namespace d5 {

/// Runs a graph that an operator holds as an attribute (If, Loop, Scan, SequenceMap). Implemented
/// by the executor of level 1; names captured from outside are bound by it.
///
/// What a node's graphs capture counts as further inputs after its own: an operator whose
/// `gradients()` name those has a kernel that goes back through the runs. The executor adds their
/// gradients up; the kernel does not see them.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  [[nodiscard]] virtual std::size_t input_count() const = 0;
  [[nodiscard]] virtual std::size_t output_count() const = 0;
  /// `inputs` in the graph's order; returns its outputs. The list is the runner's until the next
  /// run, its values are the caller's to keep: whose memory nobody keeps is used again.
  virtual std::span<Value> run(std::span<const Value> inputs) = 0;

  /// Forgets the runs that were kept, and keeps from now on what those to come need to be gone back
  /// through; `grad_inputs`: the graph's inputs whose gradients will be asked for. What is given to
  /// `run` then stays as it is until its run was gone back through.
  virtual void keep_runs(Places grad_inputs) = 0;
  /// Goes back through the last run that is kept, and forgets it. `grad_outputs` has one tensor an
  /// output, undefined where no gradient reaches it; so is the result, one tensor an input, where
  /// no gradient is asked for or none arrives.
  /// Throws: Unsupported where a node between them has no gradient.
  virtual std::vector<Tensor> run_backward(std::span<const Tensor> grad_outputs) = 0;
};

}  // namespace d5

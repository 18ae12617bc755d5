// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "torch_kernel.hpp"

namespace d5::torch {

/// Information on a value of a network that is known before a run with these input shapes.
struct KnownValue {
  Value value;                 ///< none: its data are not known
  bool shape_changes = false;  ///< data decide its shape
};

/// One node of torch's own executor. It is planned when its inputs first arrive, with the
/// reference's rules for shapes and types, and runs with that kernel until `forget`; a node with
/// data-dependent shapes is planned in every run.
class PlannedNode {
 public:
  /// `inputs` and `outputs` are indices of the network's values, -1 for missing ones. `node` and
  /// `operators` must outlive it. Throws: Unsupported if `operators` has no kernel for it.
  PlannedNode(const onnx::Node& node, std::vector<int> inputs, std::vector<int> outputs,
              const OperatorRegistry& operators);

  /// Reads and writes `values`, and stores what it learns in `known`; both have an entry per index.
  /// Throws: as `Operator::infer`, `OperatorRegistry::plan` and a kernel's `forward`.
  void run(std::span<at::Tensor> values, std::span<KnownValue> known, const Random& random);
  void forget() { kernel_.reset(); }
  /// Whether shapes depend on data; valid after a run.
  [[nodiscard]] bool changes() const { return changes_; }
  [[nodiscard]] const std::vector<int>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<int>& outputs() const { return outputs_; }
  /// Inputs for which the operator has gradients.
  [[nodiscard]] Places differentiable() const { return op_->gradients(); }
  /// Cost of a run; empty with data-dependent shapes.
  [[nodiscard]] const Cost& cost() const { return cost_; }

 private:
  void plan(std::span<const KnownValue> known);
  void learn(std::span<KnownValue> known) const;

  const onnx::Node* node_;
  std::vector<int> inputs_, outputs_;
  const OperatorRegistry* operators_;
  std::unique_ptr<Operator> op_;
  std::unique_ptr<Kernel> kernel_;
  const TorchKernel* torch_kernel_ = nullptr;  ///< the same
  bool changes_ = false;                       ///< data decide a shape
  std::vector<at::Tensor> arguments_, results_;
  Cost cost_;
};

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/device_memory.hpp"
#include "d5/level0_ops/operator/kernel_choice.hpp"

namespace d5 {

namespace detail {
class MemoryGuard;
}

/// Memory check of a running kernel: guard margins around all memory it may write, and checksums of
/// all it may only read. Costs time and allocations.
enum class Guard { off, on };

/// Runs one node on given values: infers, plans a kernel, allocates memory and runs it.
///
/// Enforces the kernel's promises: backward sees only the values that `KernelTraits` names. Node,
/// operator, services and the values given to `plan` must outlive it.
class NodeRun {
 public:
  /// `frameworks` are in order of preference. `target.grad_inputs` applies to floating-point
  /// tensors, and to indices after the inputs, which denote captured values. Throws: nothing;
  /// `plan` does.
  NodeRun(const onnx::Node& node, const Operator& op,
          std::vector<const OperatorRegistry*> frameworks, PlanTarget target, RunServices& services,
          Guard guard = Guard::off);
  NodeRun(NodeRun&&) noexcept;
  ~NodeRun();

  /// Plans for `inputs` on the host (null or of kind none: omitted); may be called repeatedly.
  /// Allocates every output (null: not wanted), except those whose size is known only at run time.
  /// On a device, inputs and outputs get memory there, and the inputs are copied. Throws: what
  /// `Operator::infer` throws, ShapeError for nonexistent outputs, Unsupported with every
  /// framework's reason, MemoryError.
  void plan(std::span<const Value* const> inputs, std::span<Value* const> outputs);
  /// Throws: what the kernel throws; with a guard also ContractError.
  void forward();
  /// Copies changed inputs to the device again. Does nothing on the host.
  void renew_inputs();
  /// Waits for the device's work. Throws: the error of that work.
  void synchronise() { stream_->synchronise(); }
  /// Throws: as `forward`; Unsupported if the plan has no gradient to compute.
  void backward(std::span<const Tensor* const> grad_outputs, std::span<Tensor* const> grad_inputs);

  /// Whether backward computes the gradient of input `i`.
  [[nodiscard]] bool wants_grad(std::size_t i) const { return target_.grad_inputs.contains(i); }
  /// Memory from the services, with guard margins if the guard is on. `what` is its name in
  /// messages.
  [[nodiscard]] Tensor allocate(const TensorDesc& desc, std::string what);
  [[nodiscard]] Device device() const { return target_.device; }
  /// The framework whose kernel runs.
  [[nodiscard]] const std::string& framework() const { return framework_->framework(); }

 private:
  void take_memory(PlannedKernel planned);
  void take_inputs();
  void watch(std::span<const Value* const> values, std::string_view what);
  void check_guard();
  void check_outputs() const;

  const onnx::Node& node_;
  const Operator& op_;
  std::vector<const OperatorRegistry*> frameworks_;
  PlanTarget target_;
  const Places asked_;   ///< gradients
  const bool captures_;  ///< the node has graphs, which may capture values
  RunServices& services_;
  std::unique_ptr<detail::MemoryGuard> guard_;

  // The present plan:
  std::unique_ptr<Kernel> kernel_;
  const OperatorRegistry* framework_ = nullptr;
  std::vector<const Value*> inputs_;  ///< the kernel's inputs: device copies, or the host's values
  std::vector<const Value*> host_inputs_;
  std::deque<Value> device_inputs_;
  std::shared_ptr<Stream> stream_ = make_stream(Device{});
  std::vector<Value*> outputs_;
  std::vector<const void*> planned_outputs_;  ///< null: the kernel allocates it
  Places planned_;                            ///< planned outputs
  std::vector<const Value*> backward_inputs_, backward_outputs_;
  std::vector<Tensor> saved_;
  Tensor scratch_;
};

}  // namespace d5

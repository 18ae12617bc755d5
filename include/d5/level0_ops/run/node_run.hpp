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

/// Whether a kernel's memory is watched while it runs: margins around all that it may write, and
/// checksums of what it may only read. Costs time and allocations.
enum class Guard { off, on };

/// One node on values at hand: infers, plans a kernel, gives it memory, and runs it.
///
/// What kernels promise is held against them: backward sees only what `KernelTraits` names.
/// Node, operator, services and the values given to `plan` outlive it.
class NodeRun {
 public:
  /// `frameworks` in order of preference. Of `target.grad_inputs` those count that are
  /// floating-point tensors, and those after the inputs, which stand for what the node's graphs
  /// capture. Throws: nothing; `plan` does.
  NodeRun(const onnx::Node& node, const Operator& op,
          std::vector<const OperatorRegistry*> frameworks, PlanTarget target, RunServices& services,
          Guard guard = Guard::off);
  NodeRun(NodeRun&&) noexcept;
  ~NodeRun();

  /// For `inputs` on the host as they are now (null or of kind none: left out); may be called again
  /// for others. Every output (null: not wanted) gets memory; one whose size only running tells is
  /// left empty. On a device both get memory there, and the inputs are copied. Throws: what
  /// `Operator::infer` throws, ShapeError for outputs that there are not, Unsupported with every
  /// framework's reason, MemoryError.
  void plan(std::span<const Value* const> inputs, std::span<Value* const> outputs);
  /// Throws: what the kernel throws; with a guard ContractError, too.
  void forward();
  /// On a device: copies the inputs again, whose values have changed. On the host there is no need.
  void renew_inputs();
  /// Waits for the device's work. Throws: what it failed with.
  void synchronise() { stream_->synchronise(); }
  /// Throws: as `forward`; Unsupported where the plan has no gradient to compute.
  void backward(std::span<const Tensor* const> grad_outputs, std::span<Tensor* const> grad_inputs);

  /// Whether the plan made backward ready for the gradient of input `i`.
  [[nodiscard]] bool wants_grad(std::size_t i) const { return target_.grad_inputs.contains(i); }
  /// Memory from the services, between margins where a guard is on. `what` names it in messages.
  [[nodiscard]] Tensor allocate(const TensorDesc& desc, std::string what);
  [[nodiscard]] Device device() const { return target_.device; }
  /// Whose kernel runs.
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
  const bool captures_;  ///< it holds graphs, which may capture values
  RunServices& services_;
  std::unique_ptr<detail::MemoryGuard> guard_;

  // Of the present plan.
  std::unique_ptr<Kernel> kernel_;
  const OperatorRegistry* framework_ = nullptr;
  std::vector<const Value*> inputs_;  ///< the kernel's: copies on its device, or those on the host
  std::vector<const Value*> host_inputs_;
  std::deque<Value> device_inputs_;
  std::shared_ptr<Stream> stream_ = make_stream(Device{});
  std::vector<Value*> outputs_;
  std::vector<const void*> planned_outputs_;  ///< null: the kernel allocates it
  Places planned_;                            ///< the others
  std::vector<const Value*> backward_inputs_, backward_outputs_;
  std::vector<Tensor> saved_;
  Tensor scratch_;
};

}  // namespace d5

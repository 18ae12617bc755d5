// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "d5/level0_ops/operator/op_context.hpp"

namespace d5 {

/// Context of a kernel's backward run: forward's values, the gradients of its outputs, and memory
/// for the gradients of its inputs. Gradients are overwritten; the executor accumulates them.
class GradContext {
 public:
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i] != nullptr;
  }
  [[nodiscard]] std::size_t input_count() const { return inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return outputs.size(); }
  /// Available only for inputs and outputs that `KernelTraits` names.
  [[nodiscard]] const Tensor& input(std::size_t i) const { return inputs[i]->tensor(); }
  [[nodiscard]] const Tensor& output(std::size_t i) const { return outputs[i]->tensor(); }
  [[nodiscard]] Tensor& saved(std::size_t k) const { return saved_tensors[k]; }

  /// False if no gradient reaches this output, so it is zero.
  [[nodiscard]] bool has_grad_output(std::size_t i) const {
    return i < grad_outputs.size() && grad_outputs[i] != nullptr;
  }
  [[nodiscard]] const Tensor& grad_output(std::size_t i) const { return *grad_outputs[i]; }
  [[nodiscard]] bool wants_grad(std::size_t i) const {
    return i < grad_inputs.size() && grad_inputs[i] != nullptr;
  }
  [[nodiscard]] Tensor& grad_input(std::size_t i) const { return *grad_inputs[i]; }

  [[nodiscard]] std::span<std::byte> scratch() const { return scratch_bytes; }
  template <class T>
  [[nodiscard]] T* scratch_as() const {
    return reinterpret_cast<T*>(scratch_bytes.data());
  }
  /// As `OpContext::stream`.
  [[nodiscard]] Stream& stream() const { return *run_stream; }
  [[nodiscard]] const onnx::Node& node() const { return *context_node; }
  [[nodiscard]] std::string who() const { return onnx::describe(*context_node); }

  // Set by the executor.
  std::span<const Value* const> inputs;
  std::span<const Value* const> outputs;
  std::span<Tensor> saved_tensors;
  std::span<const Tensor* const> grad_outputs;
  std::span<Tensor* const> grad_inputs;
  std::span<std::byte> scratch_bytes;
  Stream* run_stream = &host_stream();
  const onnx::Node* context_node = nullptr;
};

}  // namespace d5

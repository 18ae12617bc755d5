// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/stream.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/places.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

enum class Mode { inference, training };

class SubgraphRunner;

/// Services of an executor for running kernels. Ordinary kernels do not need them.
class RunServices {
 public:
  virtual ~RunServices() = default;
  /// Allocates memory for an output, counted against the memory budget.
  virtual Tensor allocate(const TensorDesc& desc) = 0;
  /// The runner of a graph attribute. Throws: NotFound.
  virtual SubgraphRunner& subgraph(std::string_view attribute) = 0;
  /// A random stream for this node and this run.
  virtual RandomStream random() = 0;
  /// The largest number of iterations of a Loop or Scan, which throw ValueError beyond it.
  virtual std::int64_t iteration_budget() const = 0;
};

/// Context of a kernel's forward run. Tensors are shaped, allocated and resident.
class OpContext {
 public:
  OpContext() = default;

  [[nodiscard]] std::size_t input_count() const { return inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return outputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i] != nullptr;
  }
  [[nodiscard]] bool wants_output(std::size_t i) const {
    return i < outputs.size() && outputs[i] != nullptr;
  }
  /// `i` must be present. Throws: TypeError if the value is not a tensor.
  [[nodiscard]] const Tensor& input(std::size_t i) const { return inputs[i]->tensor(); }
  [[nodiscard]] Tensor& output(std::size_t i) const { return outputs[i]->tensor(); }
  [[nodiscard]] const Value& input_value(std::size_t i) const { return *inputs[i]; }

  /// Allocates an output whose shape `infer` could not determine. Returns the planned tensor for
  /// other outputs. Throws: ContractError if that differs from `desc`.
  Tensor& allocate(std::size_t i, const TensorDesc& desc);
  /// Replaces an output: for sequences, optionals, results of subgraphs. Throws: ContractError for
  /// a planned output, whose memory others already refer to.
  void set_output(std::size_t i, Value value);

  [[nodiscard]] std::span<std::byte> scratch() const { return scratch_bytes; }
  template <class T>
  [[nodiscard]] T* scratch_as() const {
    return reinterpret_cast<T*>(scratch_bytes.data());
  }
  /// The `k`th tensor that the plan asked to save for backward. None exist if backward is not
  /// wanted.
  [[nodiscard]] Tensor& saved(std::size_t k) const { return saved_tensors[k]; }
  [[nodiscard]] Mode mode() const { return run_mode; }
  /// The queue for work on the kernel's device. Work on the host is done when a call returns.
  [[nodiscard]] Stream& stream() const { return *run_stream; }
  [[nodiscard]] RunServices& services() const { return *run_services; }
  [[nodiscard]] const onnx::Node& node() const { return *context_node; }
  [[nodiscard]] std::string who() const { return onnx::describe(*context_node); }

  // Set by the executor. Omitted inputs and outputs are null.
  std::span<const Value* const> inputs;
  std::span<Value* const> outputs;
  Places planned_outputs;  ///< outputs that `infer` fully described
  std::span<std::byte> scratch_bytes;
  std::span<Tensor> saved_tensors;
  Mode run_mode = Mode::inference;
  RunServices* run_services = nullptr;
  Stream* run_stream = &host_stream();
  const onnx::Node* context_node = nullptr;
};

}  // namespace d5

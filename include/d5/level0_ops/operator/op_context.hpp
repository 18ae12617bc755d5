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

/// What an executor does for kernels while they run; not on the path of ordinary kernels.
class RunServices {
 public:
  virtual ~RunServices() = default;
  /// Memory for output `i`, counted against the memory budget.
  virtual Tensor allocate(const TensorDesc& desc) = 0;
  /// Throws: NotFound.
  virtual SubgraphRunner& subgraph(std::string_view attribute) = 0;
  /// A stream of its own for this node and this run.
  virtual RandomStream random() = 0;
  /// How many iterations a Loop or Scan may make before it is ended with a ValueError.
  virtual std::int64_t iteration_budget() const = 0;
};

/// What a kernel gets while it runs forward. Tensors are ready: shaped, allocated, resident.
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
  /// Throws: TypeError if the value is no tensor. `i` must be present.
  [[nodiscard]] const Tensor& input(std::size_t i) const { return inputs[i]->tensor(); }
  [[nodiscard]] Tensor& output(std::size_t i) const { return outputs[i]->tensor(); }
  [[nodiscard]] const Value& input_value(std::size_t i) const { return *inputs[i]; }

  /// For an output whose shape `infer` could not tell: allocates it. Elsewhere the planned tensor
  /// is returned. Throws: ContractError where that is not `desc`.
  Tensor& allocate(std::size_t i, const TensorDesc& desc);
  /// Replaces an output as a whole: sequences, optionals, results of subgraphs. Not one that was
  /// planned: that is memory which others were told of, to be written into. Throws: ContractError.
  void set_output(std::size_t i, Value value);

  [[nodiscard]] std::span<std::byte> scratch() const { return scratch_bytes; }
  template <class T>
  [[nodiscard]] T* scratch_as() const {
    return reinterpret_cast<T*>(scratch_bytes.data());
  }
  /// The `k`th tensor that the plan asked to keep. Where no backward is wanted there are none.
  [[nodiscard]] Tensor& saved(std::size_t k) const { return saved_tensors[k]; }
  [[nodiscard]] Mode mode() const { return run_mode; }
  /// Where work of the kernel's device queues up; the host's is done when a call returns.
  [[nodiscard]] Stream& stream() const { return *run_stream; }
  [[nodiscard]] RunServices& services() const { return *run_services; }
  [[nodiscard]] const onnx::Node& node() const { return *context_node; }
  [[nodiscard]] std::string who() const { return onnx::describe(*context_node); }

  // Set by the executor. Left-out inputs and outputs are null.
  std::span<const Value* const> inputs;
  std::span<Value* const> outputs;
  Places planned_outputs;  ///< those that `infer` described wholly
  std::span<std::byte> scratch_bytes;
  std::span<Tensor> saved_tensors;
  Mode run_mode = Mode::inference;
  RunServices* run_services = nullptr;
  Stream* run_stream = &host_stream();
  const onnx::Node* context_node = nullptr;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "result_memory.hpp"
#include "tensor_view.hpp"
#include "torch_device.hpp"

namespace d5::torch {

using Sizes = std::vector<std::int64_t>;
/// A node's inputs as torch tensors; missing ones are undefined.
using Inputs = std::span<const at::Tensor>;
/// A slot for each of its outputs, to be filled; unused ones may stay undefined.
using Results = std::span<at::Tensor>;
/// Source of random numbers for kernels.
using Random = std::optional<at::Generator>;

/// One ONNX node as calls of torch. A kernel must only have `call`: torch's own executor chains
/// `call`s under autograd, `forward` is a `call` with results in d5's memory, and `backward` runs
/// `call` again under autograd. Important kernels override `run` with torch's out variants and
/// `differentiate` with torch's derivative.
///
/// Constructors get the PlanContext and prepare everything that depends on shapes and constant
/// inputs. Inputs that determine an output's shape are constant then.
class TorchKernel : public Kernel {
 public:
  explicit TorchKernel(const PlanContext& context);

  /// The outputs as functions of the inputs, differentiable while autograd records.
  virtual void call(Inputs inputs, Results results, const Random& random) const = 0;
  /// Whether outputs depend on more than the shapes of the inputs.
  [[nodiscard]] virtual bool reads_values() const { return true; }

  void forward(OpContext& context) final;
  void backward(GradContext& context) final;
  [[nodiscard]] KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 protected:
  /// Both run without autograd, on inference tensors.
  virtual void run(OpContext& context);
  virtual void differentiate(GradContext& context);

  [[nodiscard]] const onnx::Node& node() const { return node_; }
  /// The device on which the node computes. Planning prepares constants on the host and moves them
  /// there, so that they are complete whatever stream reads them.
  [[nodiscard]] c10::Device device() const { return device_; }
  [[nodiscard]] at::TensorOptions of_type(at::ScalarType type) const {
    return at::TensorOptions(device_).dtype(type);
  }
  [[nodiscard]] Inputs arguments(const OpContext& context);
  // d5's tensors as torch's, wrapped on the first run.
  template <class Context>
  [[nodiscard]] at::Tensor& in(const Context& context, std::size_t i) {
    return inputs_[i].of(context.input(i));
  }
  template <class Context>
  [[nodiscard]] at::Tensor& out(const Context& context, std::size_t i) {
    return outputs_[i].of(context.output(i));
  }
  template <class Context>
  [[nodiscard]] at::Tensor& saved(const Context& context, std::size_t k) {
    return saved_[k].of(context.saved(k));
  }
  [[nodiscard]] at::Tensor& grad_out(const GradContext& context, std::size_t i) {
    return grad_outputs_[i].of(context.grad_output(i));
  }
  [[nodiscard]] at::Tensor& grad_in(const GradContext& context, std::size_t i) {
    return grad_inputs_[i].of(context.grad_input(i));
  }

 private:
  void put(OpContext& context, std::size_t i);
  void record(GradContext& context);

  static constexpr std::size_t kMostSaved = 2;
  const onnx::Node& node_;
  c10::Device device_;
  // Never resized, as references into them are handed out.
  std::vector<TensorView> inputs_, outputs_, saved_, grad_outputs_, grad_inputs_;
  std::vector<bool> planned_;  ///< outputs whose memory is there before the run
  std::vector<at::Tensor> arguments_, results_;
  std::vector<ResultTurn> turns_;  ///< for `results_`
  /// Tensors that autograd sees, not inference tensors. `gradients` are those of `wanted`, the
  /// leaves at `places`.
  struct Tape {
    std::vector<TensorView> leaves, grad_outputs;
    std::vector<at::Tensor> wanted, outputs, output_gradients, gradients;
    std::vector<std::size_t> places;
  };
  Tape tape_;
};

/// Traits of kernels with gradients that depend only on shapes.
inline constexpr KernelTraits kBackwardReadsNothing{.backward_reads_inputs = {},
                                                    .backward_reads_outputs = {}};

/// An optional input.
[[nodiscard]] inline std::optional<at::Tensor> given(Inputs inputs, std::size_t i) {
  if (i >= inputs.size() || !inputs[i].defined()) return std::nullopt;
  return inputs[i];
}
/// Converts small floats to the type that torch computes with; others are unchanged.
[[nodiscard]] inline at::Tensor widened(const at::Tensor& x) {
  return x.to(at::toOpMathType(x.scalar_type()));
}
/// An axis of the first input, counted from the front.
[[nodiscard]] inline std::int64_t front(std::int64_t axis, const PlanContext& context) {
  return std::int64_t(normalize_axis(axis, context.shape(0).rank(), context.who()));
}

/// Call it in a handler: rethrows exceptions of torch and its libraries as d5's. Throws:
/// Unsupported for an element type that torch's function lacks; MemoryError; ValueError for all
/// others; d5's own errors unchanged.
[[noreturn]] void rethrow(const std::string& who);

/// Whether torch has tensors for all values; for kernels that convert types or copy bytes.
[[nodiscard]] Support converts(const PlanContext& context);
/// The same for kernels that move elements: torch can only convert 8-bit floats.
[[nodiscard]] Support stores(const PlanContext& context);
/// The same for kernels that compute: torch has hardly any arithmetic on unsigned integers of more
/// than 8 bits.
[[nodiscard]] Support computes(const PlanContext& context);
/// The same for windows, which torch does not apply to empty tensors.
[[nodiscard]] Support computes_some(const PlanContext& context);

/// Registers a kernel for all of `kernel_devices`.
template <class View>
void add_plan(OperatorRegistry& registry, const OperatorRegistry::Plan& plan,
              Support (*check)(const PlanContext&)) {
  for (const DeviceKind device : kernel_devices()) {
    registry.add_kernel<View>(plan, check, device);
  }
}
/// Registers `K`, made from a PlanContext and `arguments`, for nodes that `check` accepts.
template <std::derived_from<TorchKernel> K, class View, class... Arguments>
void add(OperatorRegistry& registry, Support (*check)(const PlanContext&), Arguments... arguments) {
  const auto plan = [arguments...](PlanContext& context) {
    try {
      return std::make_unique<K>(context, arguments...);
    } catch (...) {
      rethrow(context.who());
    }
  };
  add_plan<View>(registry, plan, check);
}

}  // namespace d5::torch

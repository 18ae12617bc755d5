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

namespace d5::torch {

using Sizes = std::vector<std::int64_t>;
/// A node's inputs as torch's tensors; left-out ones are undefined.
using Inputs = std::span<const at::Tensor>;
/// A slot for each of its outputs, to be filled; unused ones may stay undefined.
using Results = std::span<at::Tensor>;
/// Source of random numbers for kernels.
using Random = std::optional<at::Generator>;

/// One ONNX node as calls of torch. `call` is all that a kernel must have: torch's own executor
/// strings `call`s together under autograd, `forward` is a `call` whose results lie in d5's memory,
/// and `backward` runs `call` again under autograd. A kernel that matters overrides `run` with
/// torch's out variants and `differentiate` with torch's derivative.
///
/// Constructors get the PlanContext and prepare what shapes and constant inputs decide. All that
/// decides an output's shape is constant then.
class TorchKernel : public Kernel {
 public:
  explicit TorchKernel(const PlanContext& context);

  /// The outputs as functions of the inputs, differentiable where autograd records.
  virtual void call(Inputs inputs, Results results, const Random& random) const = 0;
  /// Whether outputs depend on more than the shapes of the inputs.
  [[nodiscard]] virtual bool reads_values() const { return true; }

  void forward(OpContext& context) final;
  void backward(GradContext& context) final;
  [[nodiscard]] KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 protected:
  /// Both run without autograd recording, on inference tensors.
  virtual void run(OpContext& context);
  virtual void differentiate(GradContext& context);

  [[nodiscard]] const onnx::Node& node() const { return node_; }
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
  // Their sizes stay as they were made: references into them are handed out.
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

/// Traits of kernels whose gradient depends on shapes alone.
inline constexpr KernelTraits kBackwardReadsNothing{.backward_reads_inputs = {},
                                                    .backward_reads_outputs = {}};

/// An input that may be left out.
[[nodiscard]] inline std::optional<at::Tensor> given(Inputs inputs, std::size_t i) {
  if (i >= inputs.size() || !inputs[i].defined()) return std::nullopt;
  return inputs[i];
}
/// Small floats as what torch computes with; others as they are.
[[nodiscard]] inline at::Tensor widened(const at::Tensor& x) {
  return x.to(at::toOpMathType(x.scalar_type()));
}
/// An axis of the first input, counted from the front.
[[nodiscard]] inline std::int64_t front(std::int64_t axis, const PlanContext& context) {
  return std::int64_t(normalize_axis(axis, context.shape(0).rank(), context.who()));
}

/// In a handler: what torch, or a library of its, threw, in d5's words. Throws: Unsupported for an
/// element type that torch's function lacks, MemoryError, ValueError for all else; d5's own errors
/// as they are.
[[noreturn]] void rethrow(const std::string& who);

/// Whether torch has tensors for all values: what kernels need that convert, or copy bytes.
[[nodiscard]] Support converts(const PlanContext& context);
/// The same for kernels that move elements: floats of 8 bits torch only converts.
[[nodiscard]] Support stores(const PlanContext& context);
/// The same for kernels that compute: on unsigned integers of more than 8 bits torch has next to
/// no arithmetic.
[[nodiscard]] Support computes(const PlanContext& context);
/// The same for windows, which torch slides over no tensor without elements.
[[nodiscard]] Support computes_some(const PlanContext& context);

/// Registers `K`, made from a PlanContext and `arguments`, for the nodes that `check` says yes to.
template <std::derived_from<TorchKernel> K, class View, class... Arguments>
void add(OperatorRegistry& registry, Support (*check)(const PlanContext&), Arguments... arguments) {
  registry.add_kernel<View>(
      [arguments...](PlanContext& context) {
        try {
          return std::make_unique<K>(context, arguments...);
        } catch (...) {
          rethrow(context.who());
        }
      },
      check);
}

}  // namespace d5::torch

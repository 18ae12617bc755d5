// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/level0_ops/operator_registry.hpp"
#include "tensor_view.hpp"

namespace d5::torch {

/// An operator's inputs as torch's tensors; left-out ones are undefined.
using Inputs = std::span<const at::Tensor>;
/// Its outputs, in the node's order; those that nobody wants may be undefined or missing.
using Results = std::vector<at::Tensor>;

/// How `TorchOperator::call` runs.
struct Call {
  Mode mode = Mode::inference;
  std::optional<at::Generator> generator = {};  ///< of operators that draw random numbers
};

/// One ONNX operator as calls of torch. `call` is all that an operator must have: torch's own
/// executor strings `call`s together under autograd, `forward` is a `call` whose results lie in
/// d5's memory, and `backward` runs `call` again under autograd. An operator that matters overrides
/// `run` with torch's out variants and `differentiate` with torch's derivative.
///
/// What an operator means (shapes, types, which inputs have gradients) is asked of the reference.
class TorchOperator : public Operator {
 public:
  explicit TorchOperator(const onnx::Node& node);

  /// The outputs as functions of the inputs, differentiable where autograd records.
  virtual Results call(Inputs inputs, const Call& call) const = 0;

  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override;
  void forward(OpContext& context) final;
  void backward(GradContext& context) final;
  [[nodiscard]] bool differentiable(std::size_t input) const override;
  [[nodiscard]] bool backward_needs_output(std::size_t) const override { return false; }
  [[nodiscard]] Cost cost(const InferContext& context) const override;

 protected:
  /// Both run without autograd recording, on inference tensors.
  virtual void run(OpContext& context);
  virtual void differentiate(GradContext& context);

  [[nodiscard]] const onnx::Node& node() const { return node_; }
  // d5's tensors as torch's, wrapped on the first run of a plan.
  [[nodiscard]] at::Tensor& in(const OpContext& context, std::size_t i);
  [[nodiscard]] at::Tensor& in(const GradContext& context, std::size_t i);
  [[nodiscard]] at::Tensor& out(const OpContext& context, std::size_t i);
  [[nodiscard]] at::Tensor& out(const GradContext& context, std::size_t i);
  [[nodiscard]] at::Tensor& saved(const OpContext& context, std::size_t k);
  [[nodiscard]] at::Tensor& saved(const GradContext& context, std::size_t k);
  [[nodiscard]] at::Tensor& grad_out(const GradContext& context, std::size_t i);
  [[nodiscard]] at::Tensor& grad_in(const GradContext& context, std::size_t i);

 private:
  void differentiate_by_autograd(GradContext& context);

  onnx::Node node_;
  std::unique_ptr<Operator> reference_;
  static constexpr std::size_t kMostSaved = 2;
  // Their sizes stay as they were made: references into them are handed out.
  std::vector<TensorView> inputs_, outputs_, saved_, grad_outputs_, grad_inputs_;
};

/// The integers of a small index tensor: axes, starts, a shape.
[[nodiscard]] std::vector<std::int64_t> integers(const at::Tensor& tensor);

/// Yes where the reference supports the node: it is asked what the operator means.
[[nodiscard]] Support reference_supports(const onnx::Node& node);

/// Registers `Op`, made from a node and `arguments`, for nodes that the reference supports, too,
/// and that `check` finds nothing against.
template <std::derived_from<TorchOperator> Op, class... Arguments>
void add(OperatorRegistry& registry, const std::string& name, OperatorRegistry::Check check = {},
         Arguments... arguments) {
  registry.add(
      name, {},
      [arguments...](const onnx::Node& node) { return std::make_unique<Op>(node, arguments...); },
      [check = std::move(check)](const onnx::Node& node) {
        const Support meaning = reference_supports(node);
        return meaning && check ? check(node) : meaning;
      });
}

}  // namespace d5::torch

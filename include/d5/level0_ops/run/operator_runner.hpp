// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "d5/level0_ops/run/node_run.hpp"

namespace d5 {

/// One operator by itself, planned for given inputs: what tests and benchmarks of level 0 run.
///
///     OperatorRunner relu(framework("reference").part<OperatorRegistry>(), node, inputs);
///     relu.forward();
///     const Tensor& y = relu.output(0).tensor();
///
/// Random operators draw the same numbers at every run. Operators that hold subgraphs need an
/// executor of level 1. Throws: Unsupported for those.
class OperatorRunner {
 public:
  /// In `Mode::training` backward is ready for every input that has a gradient, or for those of
  /// `gradients`. `inputs` are on the host; on another device the runner copies them there, where
  /// outputs and gradients stay
  /// (`Tensor::on_host` brings them), and work is done when `synchronise` returns.
  OperatorRunner(const OperatorRegistry& registry, onnx::Node node, std::vector<Value> inputs,
                 Mode mode = Mode::inference, Guard guard = Guard::off, Device device = {},
                 std::optional<Places> gradients = {});
  OperatorRunner(OperatorRunner&&) noexcept;
  ~OperatorRunner();

  void forward();
  /// `grad_outputs` as the outputs, on their device; one without gradient is an undefined tensor.
  void backward(const std::vector<Tensor>& grad_outputs);
  void synchronise();

  /// The next `forward` sees what is written into it.
  [[nodiscard]] Value& input(std::size_t i);
  [[nodiscard]] const Value& output(std::size_t i) const;
  [[nodiscard]] std::size_t output_count() const;
  /// Undefined for an input without gradient.
  [[nodiscard]] const Tensor& grad_input(std::size_t i) const;
  [[nodiscard]] const Operator& op() const;
  [[nodiscard]] Cost cost() const;
  /// Of `backward`; nothing where the operator does not tell it.
  [[nodiscard]] std::optional<Cost> gradient_cost() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5

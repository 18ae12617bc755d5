// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "d5/level0_ops/run/node_run.hpp"

namespace d5 {

/// Runs a single operator, planned for given inputs, for tests and benchmarks of level 0.
///
///     OperatorRunner relu(framework("reference").part<OperatorRegistry>(), node, inputs);
///     relu.forward();
///     const Tensor& y = relu.output(0).tensor();
///
/// Random operators draw the same numbers at every run. Throws: Unsupported for operators with
/// subgraphs, which need an executor of level 1.
class OperatorRunner {
 public:
  /// In `Mode::training`, plans backward for every differentiable input, or for those in
  /// `gradients`. `inputs` are on the host. On another device, the runner copies them there;
  /// outputs and gradients stay there (use `Tensor::on_host`), and work is done when `synchronise`
  /// returns.
  OperatorRunner(const OperatorRegistry& registry, onnx::Node node, std::vector<Value> inputs,
                 Mode mode = Mode::inference, Guard guard = Guard::off, Device device = {},
                 std::optional<Places> gradients = {});
  OperatorRunner(OperatorRunner&&) noexcept;
  ~OperatorRunner();

  void forward();
  /// `grad_outputs` has one tensor per output, on its device; undefined if it has no gradient.
  void backward(const std::vector<Tensor>& grad_outputs);
  void synchronise();

  /// May be overwritten; the next `forward` uses the new value.
  [[nodiscard]] Value& input(std::size_t i);
  [[nodiscard]] const Value& output(std::size_t i) const;
  [[nodiscard]] std::size_t output_count() const;
  /// Undefined for an input without gradient.
  [[nodiscard]] const Tensor& grad_input(std::size_t i) const;
  [[nodiscard]] const Operator& op() const;
  [[nodiscard]] Cost cost() const;
  /// The cost of `backward`; nothing if unknown.
  [[nodiscard]] std::optional<Cost> gradient_cost() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "eager_program.hpp"
#include "graph.hpp"
#include "tensor_view.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

/// One ONNX node as TensorFlow eager operations. Its translator builds a graph, which runs
/// operation by operation on the calling thread. Backward consists of the operations that
/// TensorFlow's gradients add to the graph.
///
/// Inputs are read in place. Results that TensorFlow allocates are copied into d5's memory, because
/// it has no operation that writes into given memory.
///
/// If the executor keeps layouts, channels stay last between kernels, and filters arrive in
/// TensorFlow's order.
class TensorFlowKernel final : public Kernel {
 public:
  /// Throws: Unsupported if TensorFlow has no operation, kernel or gradient for it.
  TensorFlowKernel(PlanContext& context, const Translator& translate);

  void forward(OpContext& context) override;
  void backward(GradContext& context) override;
  [[nodiscard]] KernelTraits traits() const override { return traits_; }

 private:
  /// Parts of one direction: terms, the operations between them, and d5's memory as arguments.
  struct Direction {
    Terms fed, results;
    std::optional<EagerProgram> program = {};
    std::vector<HandleView> views = {};
    std::vector<TFE_TensorHandle*> handles = {};
  };

  [[nodiscard]] Term add_input(PlanContext& context, std::size_t i);
  void want_order(PlanContext& context, std::size_t i);
  [[nodiscard]] Term arranged(PlanContext& context, std::size_t k, Term y);
  void add_backward(const PlanContext& context);
  void find_traits(const PlanContext& context);
  void prepare(Direction& direction);
  [[nodiscard]] const Tensor& zeros(std::size_t output);

  Graph graph_;
  Direction forward_, backward_;
  std::vector<TensorDesc> outputs_;
  std::vector<std::size_t> forward_places_;   ///< output index of each result
  std::vector<std::size_t> backward_places_;  ///< input index of each gradient
  std::vector<std::size_t> independent_;      ///< inputs whose gradient is zero
  std::vector<Tensor> zeros_;                 ///< replace gradients that do not reach an output
  KernelTraits traits_;
};

}  // namespace d5::tensorflow

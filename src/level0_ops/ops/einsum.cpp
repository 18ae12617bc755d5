// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products over named indices.
#include <algorithm>
#include <concepts>
#include <optional>
#include <vector>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/contraction.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using detail::Contraction;
using detail::EinsumEquation;
using detail::EinsumIndex;

template <class T>
class EinsumKernel final : public Kernel {
 public:
  EinsumKernel(const std::vector<EinsumIndex>& indices, const PlanContext& context)
      : inputs_(context.input_count()),
        forward_(indices, inputs_ + 1, inputs_),
        empty_(context.output(0).elements() == 0),
        gradients_(inputs_) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (context.wants_grad(i)) gradients_[i].emplace(indices, inputs_ + 1, i);
    }
  }

  void forward(OpContext& context) override {
    if (empty_) return;
    forward_.run(context.output(0).data<T>(),
                 [&](std::size_t k) { return context.input(k).data<T>(); });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      for (std::size_t i = 0; i < inputs_; ++i) {
        if (!context.wants_grad(i)) continue;
        detail::zero_elements(context.grad_input(i));  // beside a diagonal
        if (empty_ || context.grad_input(i).elements() == 0) continue;
        gradients_[i]->run(context.grad_input(i).data<T>(), [&](std::size_t k) {
          return k == inputs_ ? context.grad_output(0).data<T>() : context.input(k).data<T>();
        });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  std::size_t inputs_;
  Contraction forward_;
  bool empty_;
  std::vector<std::optional<Contraction>> gradients_;
};

/// Shapes: as the equation says; sizes of one index are equal, or 1 and broadcast.
class Einsum final : public Operator {
 public:
  explicit Einsum(const onnx::nodes::Einsum& view)
      : equation_(view.equation(), onnx::describe(view.node())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), equation_.resolve(context).output}};
  }

  Places gradients() const override { return Places::all(); }

  /// A product of all inputs at each place of the indices, and its sum where it is summed.
  Cost cost(const InferContext& context) const override {
    const auto [indices, output] = equation_.resolve(context);
    double places = 1;
    for (const EinsumIndex& index : indices) places *= double(index.size);
    const bool sums = std::ranges::any_of(
        indices, [](const EinsumIndex& index) { return index.steps.back() == 0; });
    return with_flop(context, places * double(context.input_count() - (sums ? 0 : 1)));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto indices = equation_.resolve(context).indices;
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<EinsumKernel<T>>(indices, context);
    });
  }

 private:
  EinsumEquation equation_;
};

}  // namespace

void register_einsum(OperatorRegistry& registry) { registry.add<Einsum, onnx::nodes::Einsum>(); }

}  // namespace d5::ops

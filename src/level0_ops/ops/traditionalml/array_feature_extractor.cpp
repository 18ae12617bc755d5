// SPDX-License-Identifier: Apache-2.0
// ArrayFeatureExtractor: elements of the last dimension, selected by indices.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <memory>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using ArrayFeatureExtractorView = onnx::nodes::ml::ArrayFeatureExtractor;

/// T moves like the element type, or is that type.
template <class T>
class ExtractorKernel final : public Kernel {
 public:
  ExtractorKernel(std::int64_t rows, std::int64_t size) : rows_(rows), size_(size) {}

  void forward(OpContext& context) override {
    const T* x = static_cast<const T*>(context.input(ArrayFeatureExtractorView::In::X).raw());
    T* z = static_cast<T*>(context.output(0).raw());
    visit(context, [=](std::int64_t from, std::int64_t to) { z[to] = x[from]; });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      detail::zero_elements(context.grad_input(ArrayFeatureExtractorView::In::X));
      T* dx = context.grad_input(ArrayFeatureExtractorView::In::X).template data<T>();
      const T* dz = context.grad_output(0).template data<T>();
      visit(context, [=](std::int64_t to, std::int64_t from) { dx[to] += dz[from]; });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {ArrayFeatureExtractorView::In::Y},
            .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(index in X, index in Z)` for each element of Z.
  template <class Context, class F>
  void visit(const Context& context, const F& f) const {
    const auto places =
        context.input(ArrayFeatureExtractorView::In::Y).template span<std::int64_t>();
    for (const std::int64_t place : places) {
      if (place >= 0 && place < size_) continue;
      throw ValueError(
          fmt::format("{}: place {} is outside [0, {}]", context.who(), place, size_ - 1));
    }
    std::int64_t to = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (const std::int64_t place : places) f(row * size_ + place, to++);
    }
  }

  std::int64_t rows_, size_;
};

/// Shapes: Z is X with the number of indices in Y as the last dimension; for a vector it is one
/// row.
class ArrayFeatureExtractor final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(ArrayFeatureExtractorView::In::X);
    const std::int64_t places = context.input(ArrayFeatureExtractorView::In::Y).elements();
    if (x.shape.rank() == 0) {
      throw ShapeError(
          fmt::format("{}: X is a scalar, expected one dimension or more", context.who()));
    }
    if (x.shape.rank() == 1) return {TensorDesc{x.dtype, Shape{1, places}}};
    Shape z = x.shape;
    z[z.rank() - 1] = places;
    return {TensorDesc{x.dtype, z}};
  }

  Places gradients() const override { return {ArrayFeatureExtractorView::In::X}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(ArrayFeatureExtractorView::In::X);
    const std::int64_t rows = x.elements(0, x.rank() - 1), size = x[x.rank() - 1];
    return detail::moving_kernel_for(
        context.dtype(ArrayFeatureExtractorView::In::X), context,
        [&]<class T>() { return std::make_unique<ExtractorKernel<T>>(rows, size); });
  }
};

}  // namespace

void register_array_feature_extractor(OperatorRegistry& registry) {
  registry.add<ArrayFeatureExtractor, ArrayFeatureExtractorView>();
}

}  // namespace d5::ops

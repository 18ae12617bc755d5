// SPDX-License-Identifier: Apache-2.0
// Compress: the slices along an axis for which a condition is true.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

/// The input has `outer` blocks of `size` slices of `inner` elements. T moves like the element
/// type, forward and backward.
template <class T>
class CompressKernel final : public Kernel {
 public:
  CompressKernel(TensorDesc y, std::size_t axis, std::int64_t outer, std::int64_t size,
                 std::int64_t inner)
      : y_(std::move(y)), axis_(axis), outer_(outer), size_(size), inner_(inner) {}

  void forward(OpContext& context) override {
    const auto condition = context.input(1).span<bool>();
    y_.shape[axis_] = std::count(condition.begin(), condition.end(), true);
    const T* from = static_cast<const T*>(context.input(0).raw());
    T* to = static_cast<T*>(context.allocate(0, y_).raw());
    for_each_slice(condition,
                   [&](std::int64_t first) { to = std::copy_n(from + first, inner_, to); });
  }

  void backward(GradContext& context) override {
    const T* from = static_cast<const T*>(context.grad_output(0).raw());
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    T* to = static_cast<T*>(dx.raw());
    for_each_slice(context.input(1).span<bool>(), [&](std::int64_t first) {
      std::copy_n(from, inner_, to + first);
      from += inner_;
    });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {1}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(first)` with the begin of each selected slice in the input, in order.
  template <class F>
  void for_each_slice(std::span<const bool> condition, F&& f) const {
    for (std::int64_t o = 0; o < outer_; ++o) {
      for (std::size_t i = 0; i < condition.size(); ++i) {
        if (condition[i]) f((o * size_ + std::int64_t(i)) * inner_);
      }
    }
  }

  TensorDesc y_;  // with the condition's number of slices along the axis
  std::size_t axis_;
  std::int64_t outer_, size_, inner_;
};

/// Shapes: the condition may be shorter than the axis.
class Compress final : public MovingOperator {
 public:
  explicit Compress(const onnx::nodes::Compress& view) : axis_(view.axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = input(context);
    const std::size_t axis = normalize_axis(axis_.value_or(0), y.shape.rank(), context.who());
    if (context.dtype(1) != DType::boolean) {
      throw TypeError(fmt::format("{}: the condition is {}, expected bool", context.who(),
                                  name_of(context.dtype(1))));
    }
    if (context.shape(1).rank() != 1) {
      throw ShapeError(fmt::format("{}: the condition is {}, expected a list", context.who(),
                                   to_string(context.shape(1))));
    }
    const std::int64_t conditions = context.shape(1).elements();
    if (conditions > y.shape[axis]) {
      throw ShapeError(fmt::format("{}: the condition has {} elements for {} slices", context.who(),
                                   conditions, y.shape[axis]));
    }
    y.shape[axis] = kUnknownDim;
    return {y};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc x = input(context);
    const std::size_t axis = normalize_axis(axis_.value_or(0), x.shape.rank(), context.who());
    return detail::dispatch_by_size(x.dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
      return std::make_unique<CompressKernel<T>>(x, axis, x.shape.elements(0, axis), x.shape[axis],
                                                 x.shape.elements(axis + 1, x.shape.rank()));
    });
  }

 private:
  /// The input's description, flattened without an axis.
  [[nodiscard]] TensorDesc input(const InferContext& context) const {
    TensorDesc x = context.input(0);
    if (!axis_) x.shape = Shape{x.shape.elements()};
    return x;
  }

  std::optional<std::int64_t> axis_;
};

}  // namespace

void register_compress(OperatorRegistry& registry) {
  registry.add<Compress, onnx::nodes::Compress>();
}

}  // namespace d5::ops

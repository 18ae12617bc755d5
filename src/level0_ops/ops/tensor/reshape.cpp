// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze, Unsqueeze, Identity: the same elements with another shape.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Copies input 0; in place it costs nothing.
class SameElementsKernel final : public Kernel {
 public:
  explicit SameElementsKernel(const TensorDesc& x) : dtype_(x.dtype), count_(x.elements()) {}
  void forward(OpContext& context) override {
    detail::copy_elements(dtype_, context.output(0).raw(), context.input(0).raw(), count_);
  }
  void backward(GradContext& context) override {
    detail::copy_elements(dtype_, context.grad_input(0).raw(), context.grad_output(0).raw(),
                          count_);
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 private:
  DType dtype_;
  std::int64_t count_;
};

class SameElements : public MovingOperator {
 public:
  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<SameElementsKernel>(context.input(0));
  }
};

class Reshape final : public SameElements {
 public:
  explicit Reshape(const nodes::Reshape& view)
      : shape_(view.shape()), allows_zero_(view.allowzero() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const auto wanted = context.integers(nodes::Reshape::In::shape, shape_);
    if (!wanted.given()) throw ShapeError(fmt::format("{}: no shape is given", context.who()));
    if (wanted.is_untold()) return {unknown_shape(x.dtype)};
    return {TensorDesc{x.dtype, resolve(context, x.shape, Shape(wanted.values()))}};
  }

 private:
  /// 0 means the input's dimension (unless `allowzero`), a single -1 the remaining size.
  Shape resolve(const InferContext& context, const Shape& x, Shape wanted) const {
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < wanted.rank(); ++i) {
      if (wanted[i] == 0 && !allows_zero_) {
        if (i >= x.rank()) {
          throw ShapeError(fmt::format("{}: dimension {} is to be copied, but the input is {}",
                                       context.who(), i, to_string(x)));
        }
        wanted[i] = x[i];
      } else if (wanted[i] == -1 && !open) {
        open = i;
      } else if (wanted[i] < 0) {
        throw ValueError(fmt::format("{}: dimension {} is {}, expected sizes and at most one -1",
                                     context.who(), i, wanted[i]));
      }
    }
    if (open) wanted[*open] = 1;
    const std::int64_t have = x.elements(), asked = wanted.elements();
    if (open) {
      if (asked == 0 ? have != 0 : have % asked != 0) {
        throw ShapeError(fmt::format("{}: {} elements of {} cannot be divided into rows of {}",
                                     context.who(), have, to_string(x), asked));
      }
      wanted[*open] = asked == 0 ? 0 : have / asked;
    } else if (asked != have) {
      throw ShapeError(fmt::format("{}: {} has {} elements but {} has {}", context.who(),
                                   to_string(x), have, to_string(wanted), asked));
    }
    return wanted;
  }

  std::optional<detail::Integers> shape_;  // before opset 5
  bool allows_zero_;
};

/// Shapes: y is [product of the dimensions before axis, product of the rest].
class Flatten final : public SameElements {
 public:
  explicit Flatten(const nodes::Flatten& view) : axis_(view.axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const auto rank = std::int64_t(x.shape.rank());
    std::int64_t axis = axis_;
    if (axis < -rank || axis > rank) {
      throw ValueError(fmt::format("{}: axis is {}, expected one in [{}, {}]", context.who(), axis,
                                   -rank, rank));
    }
    if (axis < 0) axis += rank;
    return {TensorDesc{x.dtype, Shape{x.shape.elements(0, std::size_t(axis)),
                                      x.shape.elements(std::size_t(axis), x.shape.rank())}}};
  }

 private:
  std::int64_t axis_;
};

/// Shapes: y is x without the dimensions in axes, which are 1; by default without all dimensions of
/// 1.
class Squeeze final : public SameElements {
 public:
  explicit Squeeze(const nodes::Squeeze& view) : axes_(view.axes()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const std::size_t rank = x.shape.rank();
    const auto axes = context.integers(nodes::Squeeze::In::axes, axes_);
    if (axes.is_untold()) return {unknown_shape(x.dtype)};
    std::vector<bool> removed(rank);
    for (std::size_t i = 0; i < rank; ++i) removed[i] = !axes.given() && x.shape[i] == 1;
    if (axes.given()) {
      for (const std::size_t i : detail::distinct_axes(axes.values(), rank, context.who())) {
        if (x.shape[i] != 1) {
          throw ShapeError(
              fmt::format("{}: dimension {} of {} is not 1", context.who(), i, to_string(x.shape)));
        }
        removed[i] = true;
      }
    }
    Shape result;
    for (std::size_t i = 0; i < rank; ++i) {
      if (!removed[i]) result.push_back(x.shape[i]);
    }
    return {TensorDesc{x.dtype, result}};
  }

 private:
  std::optional<detail::Integers> axes_;  // before opset 13
};

/// Shapes: y is x with a dimension of 1 at each of axes, which count y's dimensions.
class Unsqueeze final : public SameElements {
 public:
  explicit Unsqueeze(const nodes::Unsqueeze& view) {
    if (view.node().opset < 13) axes_ = view.axes();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const auto axes = context.integers(nodes::Unsqueeze::In::axes, axes_);
    if (!axes.given()) throw ShapeError(fmt::format("{}: no axes are given", context.who()));
    if (axes.is_untold()) return {unknown_shape(x.dtype)};
    const std::size_t rank = x.shape.rank() + axes.values().size();
    std::vector<bool> added(rank);
    for (const std::size_t i : detail::distinct_axes(axes.values(), rank, context.who())) {
      added[i] = true;
    }
    Shape result;
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank; ++i) result.push_back(added[i] ? 1 : x.shape[next++]);
    return {TensorDesc{x.dtype, result}};
  }

 private:
  std::optional<detail::Integers> axes_;  // before opset 13
};

/// Any value, not only a tensor.
class Identity final : public SameElements {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.value(0)};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.value(0).is_tensor()) return SameElements::plan(context);
    return detail::forward_kernel([](OpContext& run) { run.set_output(0, run.input_value(0)); });
  }
};

}  // namespace

void register_reshape(OperatorRegistry& registry) {
  registry.add<Reshape, nodes::Reshape>();
  registry.add<Flatten, nodes::Flatten>();
  registry.add<Squeeze, nodes::Squeeze>();
  registry.add<Unsqueeze, nodes::Unsqueeze>();
  registry.add<Identity, nodes::Identity>();
}

}  // namespace d5::ops

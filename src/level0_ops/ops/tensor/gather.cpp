// SPDX-License-Identifier: Apache-2.0
// Gather: slices of the data along an axis, selected by indices.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

/// I is the type of the indices.
template <class T, class I>
class GatherKernel final : public Kernel {
 public:
  /// The data has `outer` blocks of `size` slices of `inner` elements.
  GatherKernel(std::int64_t outer, std::int64_t size, std::int64_t inner)
      : outer_(outer), size_(size), inner_(inner) {}

  void forward(OpContext& context) override {
    const T* data = static_cast<const T*>(context.input(0).raw());
    T* y = static_cast<T*>(context.output(0).raw());
    visit(context.input(1), context.node(), [=, inner = inner_](std::int64_t at, std::int64_t to) {
      std::copy_n(data + at, inner, y + to);
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      detail::zero_elements(context.grad_input(0));
      T* dx = context.grad_input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      visit(context.input(1), context.node(),
            [=, inner = inner_](std::int64_t at, std::int64_t from) {
              for (std::int64_t i = 0; i < inner; ++i) dx[at + i] += dy[from + i];
            });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {1}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(offset in the data, offset in the output)` for each slice.
  template <class F>
  void visit(const Tensor& indices, const onnx::Node& node, const F& f) const {
    const I* index = indices.data<I>();
    const std::int64_t count = indices.elements();
    for (std::int64_t i = 0; i < count; ++i) {
      if (index[i] < -size_ || index[i] >= size_) {
        throw ValueError(fmt::format("{}: index {} at position {} is outside [{}, {}]",
                                     onnx::describe(node), index[i], i, -size_, size_ - 1));
      }
    }
    for (std::int64_t o = 0; o < outer_; ++o) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t slice = index[i] < 0 ? index[i] + size_ : index[i];
        f((o * size_ + slice) * inner_, (o * count + i) * inner_);
      }
    }
  }

  std::int64_t outer_, size_, inner_;
};

/// Shapes: data d0..dn, indices of any shape; y is data's shape with d[axis] replaced by that of
/// the indices.
class Gather final : public MovingOperator {
 public:
  explicit Gather(const onnx::nodes::Gather& view) : axis_(view.axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& data = context.input(0);
    const std::size_t axis = normalize_axis(axis_, data.shape.rank(), context.who());
    if (const DType type = context.dtype(1); type != DType::int32 && type != DType::int64) {
      throw TypeError(
          fmt::format("{}: indices are {}, expected int32 or int64", context.who(), name_of(type)));
    }
    Shape shape;
    for (std::size_t d = 0; d < axis; ++d) shape.push_back(data.shape[d]);
    for (const auto dim : context.shape(1)) shape.push_back(dim);
    for (std::size_t d = axis + 1; d < data.shape.rank(); ++d) shape.push_back(data.shape[d]);
    return {TensorDesc{data.dtype, shape}};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& data = context.shape(0);
    const std::size_t axis = normalize_axis(axis_, data.rank(), context.who());
    const std::int64_t outer = data.elements(0, axis), size = data[axis];
    const std::int64_t inner = data.elements(axis + 1, data.rank());
    return kernel_for(Types<std::int32_t, std::int64_t>{}, context.dtype(1), context,
                      [&]<class I>() {
                        return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
                          return std::make_unique<GatherKernel<T, I>>(outer, size, inner);
                        });
                      });
  }

 private:
  std::int64_t axis_;
};

}  // namespace

void register_gather(OperatorRegistry& registry) { registry.add<Gather, onnx::nodes::Gather>(); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Gather: slices of the data along an axis, chosen by indices.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

/// Shapes: data d0..dn, indices of any shape; y is data's shape with d[axis] replaced by it.
class Gather final : public Operator {
 public:
  explicit Gather(const onnx::Node& node) : axis_(onnx::nodes::Gather(node).axis()) {}

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

  void forward(OpContext& context) override {
    const Tensor& data = context.input(0);
    Tensor& y = context.output(0);
    visit(data.shape(), context.input(1), context.node(),
          [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            detail::copy_elements(data.dtype(), detail::element(y, to), detail::element(data, from),
                                  count);
          });
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    dispatch(RealTypes{}, dy.dtype(), "Gather", [&]<class T>() {
      const T* from = dy.data<T>();
      T* to = dx.data<T>();
      visit(dx.shape(), context.input(1), context.node(),
            [=](std::int64_t at, std::int64_t place, std::int64_t count) {
              for (std::int64_t i = 0; i < count; ++i) to[at + i] += from[place + i];
            });
    });
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t input) const override { return input == 1; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  /// Calls `f(place in the data, place in the output, count)` for each slice.
  template <class F>
  void visit(const Shape& data, const Tensor& indices, const onnx::Node& node, F f) const {
    const std::size_t axis = normalize_axis(axis_, data.rank(), "Gather");
    const std::int64_t outer = data.elements(0, axis), size = data[axis];
    const std::int64_t inner = data.elements(axis + 1, data.rank());
    dispatch(Types<std::int32_t, std::int64_t>{}, indices.dtype(), "Gather", [&]<class I>() {
      const I* index = indices.data<I>();
      const std::int64_t count = indices.elements();
      for (std::int64_t i = 0; i < count; ++i) {
        if (index[i] < -size || index[i] >= size) {
          throw ValueError(fmt::format("{}: index {} at position {} is outside [{}, {}]",
                                       onnx::describe(node), index[i], i, -size, size - 1));
        }
      }
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t slice = index[i] < 0 ? index[i] + size : index[i];
          f((o * size + slice) * inner, (o * count + i) * inner, inner);
        }
      }
    });
  }

  std::int64_t axis_;
};

}  // namespace

void register_gather(OperatorRegistry& registry) { registry.add<Gather>("Gather"); }

}  // namespace d5::ops

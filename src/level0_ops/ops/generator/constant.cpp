// SPDX-License-Identifier: Apache-2.0
// Constant: the value in one of the node's attributes.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

/// Converts to a dense tensor. Indices are linear, or rows of coordinates.
Tensor dense(const onnx::SparseTensor& sparse, const std::string& who) {
  Tensor result = Tensor::zeros(sparse.values.dtype(), sparse.shape);
  const std::int64_t count = sparse.values.elements();
  const auto indices = sparse.indices.span<std::int64_t>();
  const bool linear = sparse.indices.shape().rank() == 1;
  const std::size_t width = linear ? 1 : sparse.shape.rank();
  if (std::int64_t(indices.size()) != count * std::int64_t(width)) {
    throw ShapeError(fmt::format("{}: {} sparse values have indices of {}", who, count,
                                 to_string(sparse.indices.shape())));
  }
  const auto strides = sparse.shape.strides();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < width; ++d) {
      const std::int64_t index = indices[std::size_t(i) * width + d];
      const std::int64_t limit = linear ? result.elements() : sparse.shape[d];
      if (index < 0 || index >= limit) {
        throw ValueError(fmt::format("{}: sparse index {} is outside [0, {})", who, index, limit));
      }
      place += linear ? index : index * strides[d];
    }
    detail::copy_elements(result.dtype(), detail::element(result, place),
                          detail::element(sparse.values, i), 1);
  }
  return result;
}

class Constant final : public MovingOperator {
 public:
  explicit Constant(const onnx::nodes::Constant& view) : value_(read(view)) {}

  std::vector<ValueDesc> infer(const InferContext&) const override { return {value_.desc()}; }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel(
        [value = value_](OpContext& run) { run.output(0).copy_from(value); });
  }

 private:
  static Tensor read(const onnx::nodes::Constant& view) {
    if (view.node().attributes.size() > 1) {
      throw FormatError(fmt::format("{}: {} attributes hold a value; give one",
                                    onnx::describe(view.node()), view.node().attributes.size()));
    }
    if (const auto v = view.value()) return *v;
    if (const auto v = view.value_float()) return Tensor::scalar(*v);
    if (const auto v = view.value_floats()) return Tensor::vector(*v);
    if (const auto v = view.value_int()) return Tensor::scalar(*v);
    if (const auto v = view.value_ints()) return Tensor::vector(*v);
    if (const auto v = view.value_string()) return Tensor::scalar(*v);
    if (const auto v = view.value_strings()) return Tensor::vector(*v);
    if (const auto v = view.sparse_value()) return dense(*v, onnx::describe(view.node()));
    throw FormatError(
        fmt::format("{}: no attribute holds a value; give `value`", onnx::describe(view.node())));
  }

  Tensor value_;
};

}  // namespace

void register_constant(OperatorRegistry& registry) {
  registry.add<Constant, onnx::nodes::Constant>();
}

}  // namespace d5::ops

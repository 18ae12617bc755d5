// SPDX-License-Identifier: Apache-2.0
// Compress: the slices along an axis for which a condition holds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

/// Shapes: the condition may be shorter than the axis; without one the input counts as flat.
class Compress final : public Operator {
 public:
  explicit Compress(const onnx::Node& node) : axis_(onnx::nodes::Compress(node).axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(0);
    if (!axis_) {
      y.shape = Shape{kUnknownDim};
    } else {
      y.shape[normalize_axis(*axis_, y.shape.rank(), context.who())] = kUnknownDim;
    }
    return {y};
  }

  void forward(OpContext& context) override {
    const Tensor x =
        axis_ ? context.input(0) : context.input(0).reshaped({context.input(0).elements()});
    const std::size_t axis = normalize_axis(axis_.value_or(0), x.shape().rank(), context.who());
    const auto condition = context.input(1).span<bool>();
    const std::int64_t size = x.shape()[axis];
    if (std::int64_t(condition.size()) > size) {
      throw ShapeError(fmt::format("{}: the condition has {} elements for {} slices", context.who(),
                                   condition.size(), size));
    }
    TensorDesc desc = x.desc();
    desc.shape[axis] = std::count(condition.begin(), condition.end(), true);
    Tensor& y = context.allocate(0, desc);
    const std::int64_t outer = x.shape().elements(0, axis);
    const std::int64_t inner = x.shape().elements(axis + 1, x.shape().rank());
    std::int64_t to = 0;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < condition.size(); ++i) {
        if (!condition[i]) continue;
        detail::copy_elements(x.dtype(), detail::element(y, to),
                              detail::element(x, (o * size + std::int64_t(i)) * inner), inner);
        to += inner;
      }
    }
  }

 private:
  std::optional<std::int64_t> axis_;
};

}  // namespace

void register_compress(OperatorRegistry& registry) {
  registry.add<Compress>("Compress", {.since = 9});
}

}  // namespace d5::ops

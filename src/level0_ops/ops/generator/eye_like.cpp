// SPDX-License-Identifier: Apache-2.0
// EyeLike: ones on a diagonal of a matrix, zeros elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/element_type.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using EyeLikeView = onnx::nodes::EyeLike;
using EyeTypes = Join<NumberTypes, Types<bool>>;

/// Shapes: y is as x, a matrix, of which only shape and type are used.
class EyeLike final : public MovingOperator {
 public:
  explicit EyeLike(const EyeLikeView& view) : k_(view.k()) {
    if (const auto number = view.dtype()) {
      dtype_ = detail::element_type(view.node(), "dtype", *number);
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    if (x.shape.rank() != 2) {
      throw ShapeError(fmt::format("{}: the input is {}, expected two dimensions", context.who(),
                                   to_string(x.shape)));
    }
    return {TensorDesc{dtype_.value_or(x.dtype), x.shape}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc& y = context.output(0);
    const std::int64_t rows = y.shape[0], columns = y.shape[1];
    // Clamped to the corners, so that sums with k do not overflow.
    const std::int64_t k = std::clamp(k_, -rows, columns);
    const std::int64_t begin = std::max<std::int64_t>(0, -k), end = std::min(rows, columns - k);
    return kernel_for(EyeTypes{}, y.dtype, context, [=]<class T>() {
      return detail::forward_kernel([=](OpContext& run) {
        detail::zero_elements(run.output(0));
        T* to = run.output(0).data<T>();
        for (std::int64_t i = begin; i < end; ++i) to[i * columns + i + k] = T(1);
      });
    });
  }

 private:
  std::int64_t k_;
  std::optional<DType> dtype_;
};

}  // namespace

void register_eye_like(OperatorRegistry& registry) { registry.add<EyeLike, EyeLikeView>(); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// OneHot: converts each index to a line with one value at the index, and another elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using OneHotView = onnx::nodes::OneHot;
using IndexTypes = Join<Types<float, double, Float16>, IntegerTypes>;

/// The lines of y along the axis: elements of a line have stride `inner`.
struct Lines {
  std::int64_t outer, depth, inner;
};

/// The position of index `i` in a line; -1 if outside. Reals are truncated towards zero.
template <class I>
std::int64_t place_of(const void* indices, std::int64_t i, std::int64_t depth) {
  const auto index = Arithmetic<I>(static_cast<const I*>(indices)[i]);
  if constexpr (std::unsigned_integral<I>) {
    return index < std::uint64_t(depth) ? std::int64_t(index) : -1;
  } else {
    if constexpr (!std::integral<I>) {
      if (!(double(index) > -double(depth) - 1 && double(index) < double(depth))) return -1;
    }
    const auto place = std::int64_t(index);
    if (place < -depth || place >= depth) return -1;
    return place < 0 ? place + depth : place;
  }
}
using PlaceOf = std::int64_t (*)(const void*, std::int64_t, std::int64_t);

/// T moves like the type of the values.
template <class T>
class OneHotKernel final : public Kernel {
 public:
  OneHotKernel(const Lines& lines, PlaceOf place_of) : lines_(lines), place_of_(place_of) {}

  void forward(OpContext& context) override {
    const void* indices = context.input(OneHotView::In::indices).raw();
    const T* values = static_cast<const T*>(context.input(OneHotView::In::values).raw());
    T* y = static_cast<T*>(context.output(0).raw());
    const auto& [outer, depth, inner] = lines_;
    detail::parallel_for_each(outer, depth * inner, 16384, [&](std::int64_t o) {
      T* block = std::fill_n(y + o * depth * inner, depth * inner, values[0]) - depth * inner;
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t place = place_of_(indices, o * inner + i, depth);
        if (place >= 0) block[place * inner + i] = values[1];
      }
    });
  }

 private:
  Lines lines_;
  PlaceOf place_of_;
};

/// Shapes: y is the indices with a dimension of `depth` inserted at the axis. Indices outside
/// [-depth, depth) yield lines of the off value only.
class OneHot final : public MovingOperator {
 public:
  explicit OneHot(const OneHotView& view) : axis_(view.axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (const Shape& values = context.shape(OneHotView::In::values); values != Shape{2}) {
      throw ShapeError(fmt::format("{}: values are {}, expected 2: elsewhere, and at the index",
                                   context.who(), to_string(values)));
    }
    if (const Shape& depth = context.shape(OneHotView::In::depth);
        depth.rank() > 1 || depth.elements() != 1) {
      throw ShapeError(
          fmt::format("{}: depth is {}, expected one number", context.who(), to_string(depth)));
    }
    const auto indices = context.shape(OneHotView::In::indices).dims();
    std::vector<std::int64_t> dims(indices.begin(), indices.end());
    dims.insert(dims.begin() + std::ptrdiff_t(axis(context)), depth(context));
    return {TensorDesc{context.dtype(OneHotView::In::values), Shape(dims)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& y = context.output(0).shape;
    const std::size_t axis = this->axis(context);
    const Lines lines{y.elements(0, axis), y[axis], y.elements(axis + 1, y.rank())};
    PlaceOf place = nullptr;
    dispatch(IndexTypes{}, context.dtype(OneHotView::In::indices), context.who(),
             [&]<class I>() { place = place_of<I>; });
    return detail::dispatch_by_size(context.dtype(OneHotView::In::values),
                                    [&]<class T>() -> std::unique_ptr<Kernel> {
                                      return std::make_unique<OneHotKernel<T>>(lines, place);
                                    });
  }

 private:
  [[nodiscard]] std::size_t axis(const InferContext& context) const {
    return normalize_axis(axis_, context.shape(OneHotView::In::indices).rank() + 1, context.who());
  }

  static std::int64_t depth(const InferContext& context) {
    const Tensor* tensor = context.constant(OneHotView::In::depth);
    if (!tensor) return kUnknownDim;
    std::int64_t depth = 0;
    dispatch(IndexTypes{}, tensor->dtype(), context.who(), [&]<class T>() {
      const auto given = Arithmetic<T>(tensor->item<T>());
      if (!(given >= 0 && double(given) < 0x1p63)) {
        throw ValueError(fmt::format("{}: depth is {}, expected 0 or more", context.who(), given));
      }
      depth = std::int64_t(given);
    });
    return depth;
  }

  std::int64_t axis_;
};

}  // namespace

void register_one_hot(OperatorRegistry& registry) { registry.add<OneHot, OneHotView>(); }

}  // namespace d5::ops

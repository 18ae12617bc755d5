// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest or smallest elements along an axis, and their indices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using TopKView = onnx::nodes::TopK;

/// Whether `a` is before `b` in descending order. NaN counts as the largest.
template <class T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

/// The lines of x along the axis: elements of a line have stride `inner`, and `k` of a line's
/// `size` are selected.
struct Lines {
  std::int64_t outer, size, inner, k;
  bool largest;
};

template <class T>
class TopKKernel final : public Kernel {
 public:
  /// `places` is the index of the saved tensor with the source in x of each output element.
  TopKKernel(const Lines& lines, std::optional<std::size_t> places)
      : lines_(lines), places_(places) {}

  void forward(OpContext& context) override {
    const T* x = context.input(TopKView::In::X).data<T>();
    const auto out = [&]<class U>(std::size_t i) -> U* {
      return context.wants_output(i) ? context.output(i).template data<U>() : nullptr;
    };
    T* values = out.template operator()<T>(TopKView::Out::Values);
    std::int64_t* indices = out.template operator()<std::int64_t>(TopKView::Out::Indices);
    std::int64_t* places = places_ ? context.saved(*places_).data<std::int64_t>() : nullptr;
    std::int64_t* order = context.scratch_as<std::int64_t>();
    const auto& [outer, size, inner, k, largest] = lines_;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t from = o * size * inner + i, to = o * k * inner + i;
        sort(x + from, order);
        for (std::int64_t n = 0; n < k; ++n) {
          const std::int64_t at = order[n] * inner, y = to + n * inner;
          if (values) values[y] = x[from + at];
          if (indices) indices[y] = order[n];
          if (places) places[y] = from + at;
        }
      }
    }
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const Tensor& grad = context.grad_output(TopKView::Out::Values);
      const T* dy = grad.data<T>();
      detail::zero_elements(context.grad_input(TopKView::In::X));
      T* dx = context.grad_input(TopKView::In::X).data<T>();
      const std::int64_t* places = context.saved(*places_).data<std::int64_t>();
      for (std::int64_t i = 0; i < grad.elements(); ++i) dx[places[i]] = dy[i];
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  /// Sets the first k of `order` to the indices of the selected elements, in order.
  void sort(const T* line, std::int64_t* order) const {
    using A = Arithmetic<T>;
    std::iota(order, order + lines_.size, std::int64_t(0));
    std::partial_sort(order, order + lines_.k, order + lines_.size,
                      [line, inner = lines_.inner, largest = lines_.largest](auto i, auto j) {
                        const A a = A(line[i * inner]), b = A(line[j * inner]);
                        if (above(a, b)) return largest;
                        if (above(b, a)) return !largest;
                        return i < j;
                      });
  }

  Lines lines_;
  std::optional<std::size_t> places_;
};

/// Shapes: values and indices are x with k elements along the axis, always sorted. Equal elements
/// keep their order.
class TopK final : public Operator {
 public:
  explicit TopK(const TopKView& view) : axis_(view.axis()), largest_(view.largest() != 0) {
    if (view.node().opset < 10) k_ = view.k();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(TopKView::In::X);
    const std::size_t axis = normalize_axis(axis_, y.shape.rank(), context.who());
    if (!k_ && context.shape(TopKView::In::K).elements() != 1) {
      throw ShapeError(fmt::format("{}: K is {}, expected one number", context.who(),
                                   to_string(context.shape(TopKView::In::K))));
    }
    const std::optional<std::int64_t> k = k_ ? k_ : constant_k(context);
    if (k && (*k < 0 || *k > y.shape[axis])) {
      throw ValueError(fmt::format("{}: K is {}, expected 0 to {}, the size of dimension {} of {}",
                                   context.who(), *k, y.shape[axis], axis, to_string(y.shape)));
    }
    y.shape[axis] = k.value_or(kUnknownDim);
    return {y, TensorDesc{DType::int64, y.shape}};
  }

  Places gradients() const override { return {TopKView::In::X}; }

  /// At least one comparison per element.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.shape(TopKView::In::X).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape &x = context.shape(TopKView::In::X),
                &y = context.output(TopKView::Out::Values).shape;
    const std::size_t axis = normalize_axis(axis_, x.rank(), context.who());
    const Lines lines{x.elements(0, axis), x[axis], x.elements(axis + 1, x.rank()), y[axis],
                      largest_};
    context.request_scratch(std::size_t(lines.size) * sizeof(std::int64_t));
    std::optional<std::size_t> places;
    if (context.wants_backward()) places = context.save({DType::int64, y});
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(TopKView::In::X), context,
                      [&]<class T>() { return std::make_unique<TopKKernel<T>>(lines, places); });
  }

 private:
  static std::optional<std::int64_t> constant_k(const InferContext& context) {
    const auto values = context.integers(TopKView::In::K);
    return values.is_untold() ? std::nullopt : std::optional(values.values().front());
  }

  std::int64_t axis_;
  bool largest_;
  std::optional<std::int64_t> k_;  // before opset 10
};

}  // namespace

void register_top_k(OperatorRegistry& registry) { registry.add<TopK, TopKView>(); }

}  // namespace d5::ops

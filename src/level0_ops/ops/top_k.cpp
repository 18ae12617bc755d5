// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest or smallest elements along an axis, and where they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::TopK;

/// Whether `a` comes before `b` in descending order. A NaN is the largest of all.
template <class T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

/// Shapes: values and indices are x with k elements along the axis, always sorted. Of equals, the
/// first comes first.
class TopK final : public Operator {
 public:
  explicit TopK(const onnx::Node& node)
      : axis_(View(node).axis()), largest_(View(node).largest() != 0) {
    if (node.opset < 10) k_ = View(node).k();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(View::In::X);
    const std::size_t axis = normalize_axis(axis_, y.shape.rank(), context.who());
    if (!k_ && context.shape(View::In::K).elements() != 1) {
      throw ShapeError(fmt::format("{}: K is {}, expected one number", context.who(),
                                   to_string(context.shape(View::In::K))));
    }
    const std::optional<std::int64_t> k = k_ ? k_ : constant_k(context);
    if (k && (*k < 0 || *k > y.shape[axis])) {
      throw ValueError(fmt::format("{}: K is {}, expected 0 to {}, the size of dimension {} of {}",
                                   context.who(), *k, y.shape[axis], axis, to_string(y.shape)));
    }
    y.shape[axis] = k.value_or(kUnknownDim);
    return {y, TensorDesc{DType::int64, y.shape}};
  }

  void plan(PlanContext& context) override {
    const Shape& x = context.shape(View::In::X);
    lines_ = Lines(x, normalize_axis(axis_, x.rank(), context.who()));
    context.request_scratch(std::size_t(lines_.size) * sizeof(std::int64_t));
    places_ = context.save({DType::int64, x});  // as many as there can be
    training_ = context.mode() == Mode::training;
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(View::In::X);
    const bool wants_values = context.wants_output(View::Out::Values);
    const bool wants_indices = context.wants_output(View::Out::Indices);
    const std::int64_t k =
        lines_.size_in(context.output(wants_values ? View::Out::Values : View::Out::Indices));
    std::int64_t* order = context.scratch_as<std::int64_t>();
    std::int64_t* places = training_ ? context.saved(places_).data<std::int64_t>() : nullptr;
    dispatch(NumberTypes{}, x.dtype(), context.who(), [&]<class T>() {
      using A = Arithmetic<T>;
      T* values = wants_values ? context.output(View::Out::Values).data<T>() : nullptr;
      std::int64_t* indices =
          wants_indices ? context.output(View::Out::Indices).data<std::int64_t>() : nullptr;
      lines_.for_each(k, [&](std::int64_t from, std::int64_t to) {
        const T* line = x.data<T>() + from;
        std::iota(order, order + lines_.size, std::int64_t(0));
        std::partial_sort(order, order + k, order + lines_.size, [&](auto i, auto j) {
          const A a = A(line[i * lines_.inner]), b = A(line[j * lines_.inner]);
          if (above(a, b)) return largest_;
          if (above(b, a)) return !largest_;
          return i < j;
        });
        for (std::int64_t i = 0; i < k; ++i) {
          const std::int64_t at = order[i] * lines_.inner, y = to + i * lines_.inner;
          if (values) values[y] = line[at];
          if (indices) indices[y] = order[i];
          if (places) places[y] = from + at;
        }
      });
    });
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(View::Out::Values);
    Tensor& dx = context.grad_input(View::In::X);
    const std::int64_t* places = context.saved(places_).data<std::int64_t>();
    detail::zero_elements(dx);
    dispatch(RealTypes{}, dy.dtype(), context.who(), [&]<class T>() {
      for (std::int64_t i = 0; i < dy.elements(); ++i) dx.data<T>()[places[i]] = dy.data<T>()[i];
    });
  }

  bool differentiable(std::size_t input) const override { return input == View::In::X; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  static std::optional<std::int64_t> constant_k(const InferContext& context) {
    const auto values = context.constant_integers(View::In::K);
    return values ? std::optional(values->front()) : std::nullopt;
  }

  /// The lines of x along the axis; neighbours in a line are `inner` elements apart.
  struct Lines {
    Lines() = default;
    Lines(const Shape& x, std::size_t axis)
        : axis(axis),
          outer(x.elements(0, axis)),
          size(x[axis]),
          inner(x.elements(axis + 1, x.rank())) {}

    [[nodiscard]] std::int64_t size_in(const Tensor& y) const { return y.shape()[axis]; }
    /// Calls `f(first element in x, first element in y)`, where y has k elements a line.
    template <class F>
    void for_each(std::int64_t k, F f) const {
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < inner; ++i) f(o * size * inner + i, o * k * inner + i);
      }
    }

    std::size_t axis = 0;
    std::int64_t outer = 0, size = 0, inner = 0;
  };

  std::int64_t axis_;
  bool largest_;
  std::optional<std::int64_t> k_;  // before opset 10
  Lines lines_;
  std::size_t places_ = 0;  // in x, of every element of the output
  bool training_ = false;
};

}  // namespace

void register_top_k(OperatorRegistry& registry) { registry.add<TopK>("TopK"); }

}  // namespace d5::ops

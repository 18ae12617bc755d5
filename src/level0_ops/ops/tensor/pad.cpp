// SPDX-License-Identifier: Apache-2.0
// Pad: adds elements to both ends of dimensions, or removes them (negative pads).
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <numeric>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

using PadView = onnx::nodes::Pad;

enum class Mode { constant, reflect, edge, wrap };

/// Per dimension: the step in y, and the source offset in x of each position of y.
struct Sources {
  std::int64_t step = 0, begin = 0, end = 0;  // positions of y with a source in x
  std::vector<std::int64_t> offset;
};

template <class T>
class PadKernel final : public Kernel {
 public:
  /// `fill` is the padding element, unless it is an input; undefined if every position has a
  /// source.
  PadKernel(std::vector<Sources> sources, Tensor fill)
      : sources_(std::move(sources)), fill_(std::move(fill)) {}

  void forward(OpContext& context) override {
    Tensor& y = context.output(0);
    T* to = static_cast<T*>(y.raw());
    if (fill_.defined()) {
      const bool given = context.has_input(PadView::In::constant_value);
      const Tensor& value = given ? context.input(PadView::In::constant_value) : fill_;
      std::fill_n(to, y.elements(), *static_cast<const T*>(value.raw()));
    }
    const T* from = static_cast<const T*>(context.input(0).raw());
    visit([=](std::int64_t at, std::int64_t source) { to[at] = from[source]; });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      detail::zero_elements(context.grad_input(0));
      const T* from = context.grad_output(0).data<T>();
      T* to = context.grad_input(0).data<T>();
      visit([=](std::int64_t at, std::int64_t source) { to[source] += from[at]; });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(index in y, index in x)` for each element of y with a source in x.
  template <class F>
  void visit(const F& f, std::size_t d = 0, std::int64_t at = 0, std::int64_t from = 0) const {
    if (d == sources_.size()) return f(at, from);
    const Sources& place = sources_[d];
    const std::int64_t count = place.end - place.begin;
    at += place.begin * place.step;
    if (d + 1 == sources_.size()) {
      for (std::int64_t i = 0; i < count; ++i) f(at + i, from + place.offset[std::size_t(i)]);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      visit(f, d + 1, at + i * place.step, from + place.offset[std::size_t(i)]);
    }
  }

  std::vector<Sources> sources_;
  Tensor fill_;
};

/// Shapes: dimension i of y is begin[i] + dimension i of x + end[i].
class Pad final : public MovingOperator {
 public:
  explicit Pad(const PadView& view) : mode_(mode_of(view)) {
    if (view.node().opset >= 11) return;
    pads_ = view.node().opset < 2 ? view.paddings() : view.pads();
    value_ = view.value();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(0);
    if (mode_ == Mode::constant && context.has_input(PadView::In::constant_value)) {
      const TensorDesc& value = context.input(PadView::In::constant_value);
      if (value.dtype != y.dtype || value.elements() != 1) {
        throw TypeError(fmt::format("{}: the constant is {}, expected one element of {}",
                                    context.who(), to_string(value), name_of(y.dtype)));
      }
    }
    const auto all = ends(context);
    if (!all) return {unknown_shape(y.dtype)};
    for (std::size_t d = 0; d < y.shape.rank(); ++d) {
      const std::int64_t size = y.shape[d];
      const auto [begin, end] = (*all)[d];
      std::int64_t padded;
      if (__builtin_add_overflow(size, begin, &padded) ||
          __builtin_add_overflow(padded, end, &padded) || padded < 0) {
        throw ValueError(fmt::format("{}: pads {} and {} do not fit a dimension of {}",
                                     context.who(), begin, end, size));
      }
      if (mode_ != Mode::constant && size == 0 && padded > 0) {
        throw ShapeError(fmt::format("{}: dimension {} is empty; there is nothing to pad with",
                                     context.who(), d));
      }
      y.shape[d] = padded;
    }
    return {y};
  }

  /// Excludes the constant, which is a setting, not trained.
  Places gradients() const override { return {PadView::In::data}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    auto places = sources(context, ends(context).value());
    const Tensor fill = mode_ == Mode::constant ? fill_of(context) : Tensor();
    return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
      return std::make_unique<PadKernel<T>>(std::move(places), fill);
    });
  }

 private:
  struct Ends {
    std::int64_t begin = 0, end = 0;
  };

  static Mode mode_of(const PadView& view) {
    const std::string word = view.mode();
    if (word == "constant") return Mode::constant;
    if (word == "reflect") return Mode::reflect;
    if (word == "edge") return Mode::edge;
    if (word == "wrap") return Mode::wrap;
    throw ValueError(fmt::format("{}: mode is {}, expected constant, reflect, edge or wrap",
                                 onnx::describe(view.node()), printable(word)));
  }

  /// One per dimension; nothing if they are not known yet.
  [[nodiscard]] std::optional<std::vector<Ends>> ends(const InferContext& context) const {
    const auto pads = context.integers(PadView::In::pads, pads_);
    const auto axes = context.integers(PadView::In::axes);
    if (!pads.given()) throw ShapeError(fmt::format("{}: no pads are given", context.who()));
    if (pads.is_untold() || axes.is_untold()) return std::nullopt;
    const std::size_t rank = context.shape(0).rank();
    std::vector<std::size_t> places(rank);
    std::iota(places.begin(), places.end(), 0);
    if (axes.given()) places = detail::distinct_axes(axes.values(), rank, context.who());
    const detail::Integers& amounts = pads.values();
    if (amounts.size() != 2 * places.size()) {
      throw ShapeError(
          fmt::format("{}: {} pads are given for {} dimensions, expected twice as many",
                      context.who(), amounts.size(), places.size()));
    }
    std::vector<Ends> result(rank);
    for (std::size_t i = 0; i < places.size(); ++i) {
      result[places[i]] = {amounts[i], amounts[places.size() + i]};
    }
    return result;
  }

  /// The source in [0, size) of position `i`, counted from x's first element; -1: none.
  [[nodiscard]] std::int64_t source(std::int64_t i, std::int64_t size) const {
    if (i >= 0 && i < size) return i;
    switch (mode_) {
      case Mode::constant:
        return -1;
      case Mode::edge:
        return i < 0 ? 0 : size - 1;
      case Mode::wrap:
        return (i % size + size) % size;
      case Mode::reflect: {
        if (size == 1) return 0;
        const std::int64_t period = 2 * (size - 1);
        const std::int64_t place = (i % period + period) % period;
        return place < size ? place : period - place;
      }
    }
    return -1;
  }

  [[nodiscard]] std::vector<Sources> sources(const PlanContext& context,
                                             const std::vector<Ends>& ends) const {
    const Shape& x = context.shape(0);
    const TensorDesc& y = context.output(0);
    if (y.bytes() > memory_budget()) {
      throw MemoryError(fmt::format("{}: {} takes more than the memory budget of {} bytes",
                                    context.who(), to_string(y), memory_budget()));
    }
    std::vector<Sources> result(ends.size());
    std::int64_t step_x = 1, step_y = 1;
    for (std::size_t d = ends.size(); d-- > 0;) {
      const std::int64_t size = y.shape[d];
      Sources& place = result[d];
      place.step = step_y;
      place.end = size;
      if (mode_ == Mode::constant) {
        place.begin = std::clamp<std::int64_t>(ends[d].begin, 0, size);
        place.end = std::clamp<std::int64_t>(ends[d].begin + x[d], 0, size);
      }
      for (std::int64_t i = place.begin; i < place.end; ++i) {
        place.offset.push_back(source(i - ends[d].begin, x[d]) * step_x);
      }
      step_x *= x[d];
      step_y *= size;
    }
    return result;
  }

  /// The padding element: zero, or the float attribute of old opsets.
  [[nodiscard]] Tensor fill_of(const PlanContext& context) const {
    Tensor result = Tensor::zeros(context.dtype(0), {});
    if (value_ == 0) return result;
    dispatch(FloatTypes{}, context.dtype(0), context.who(),
             [&]<class T>() { *result.data<T>() = T(Arithmetic<T>(value_)); });
    return result;
  }

  Mode mode_;
  std::optional<detail::Integers> pads_;
  float value_ = 0;
};

}  // namespace

void register_pad(OperatorRegistry& registry) { registry.add<Pad, PadView>(); }

}  // namespace d5::ops

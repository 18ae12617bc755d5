// SPDX-License-Identifier: Apache-2.0
// Pad: elements added to both ends of dimensions, or taken away (negative pads).
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/integers_input.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Pad;

enum class Mode { constant, reflect, edge, wrap };

/// Shapes: dimension i of y is begin[i] + dimension i of x + end[i].
class Pad final : public Operator {
 public:
  explicit Pad(const onnx::Node& node) : mode_(mode_of(node)) {
    if (node.opset < 2) {
      pads_ = View(node).paddings();
    } else if (node.opset < 11) {
      pads_ = View(node).pads();
    }
    if (node.opset < 11) value_ = View(node).value();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(0);
    const auto pads = detail::integers_input(context, View::In::pads, pads_);
    const auto axes = detail::integers_input(context, View::In::axes, std::nullopt);
    if (!pads.given) throw ShapeError(fmt::format("{}: no pads are given", context.who()));
    if (!pads.values || (axes.given && !axes.values)) {
      for (std::size_t d = 0; d < y.shape.rank(); ++d) y.shape[d] = kUnknownDim;
      return {y};
    }
    const auto all = per_dimension(y.shape.rank(), *pads.values, axes.values, context.who());
    for (std::size_t d = 0; d < all.size(); ++d) {
      const std::int64_t size = y.shape[d];
      std::int64_t padded;
      if (__builtin_add_overflow(size, all[d].begin, &padded) ||
          __builtin_add_overflow(padded, all[d].end, &padded) || padded < 0) {
        throw ValueError(fmt::format("{}: pads {} and {} do not fit a dimension of {}",
                                     context.who(), all[d].begin, all[d].end, size));
      }
      if (mode_ != Mode::constant && size == 0 && padded > 0) {
        throw ShapeError(fmt::format("{}: dimension {} is empty; there is nothing to pad with",
                                     context.who(), d));
      }
      y.shape[d] = padded;
    }
    return {y};
  }

  void plan(PlanContext& context) override {
    const auto pads = detail::integers_input(context, View::In::pads, pads_);
    const auto axes = detail::integers_input(context, View::In::axes, std::nullopt);
    fixed_ = pads.values && (!axes.given || axes.values);
    if (fixed_) {
      prepare(context.input(0),
              per_dimension(context.shape(0).rank(), *pads.values, axes.values, context.who()));
    }
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    if (!fixed_) {
      prepare(x.desc(), per_dimension(x.shape().rank(),
                                      *detail::integers_input(context, View::In::pads, pads_),
                                      detail::integers_input(context, View::In::axes, std::nullopt),
                                      context.who()));
    }
    Tensor& y = context.output(0);
    if (mode_ == Mode::constant) fill(context, y);
    detail::dispatch_by_size(x.dtype(), [&]<class T>() {
      const T* from = static_cast<const T*>(x.raw());
      T* to = static_cast<T*>(y.raw());
      visit([=](std::int64_t at, std::int64_t source) { to[at] = from[source]; });
    });
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    dispatch(RealTypes{}, dy.dtype(), View::kName, [&]<class T>() {
      const T* from = dy.data<T>();
      T* to = dx.data<T>();
      visit([=](std::int64_t at, std::int64_t source) { to[source] += from[at]; });
    });
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  struct Ends {
    std::int64_t begin = 0, end = 0;
  };
  /// For one dimension: the step in y, and where in x (in elements) each place of y comes from.
  struct Sources {
    std::int64_t step = 0, begin = 0, end = 0;  // places of y that come from x at all
    std::vector<std::int64_t> offset;
  };

  static Mode mode_of(const onnx::Node& node) {
    const std::string word = View(node).mode();
    if (word == "constant") return Mode::constant;
    if (word == "reflect") return Mode::reflect;
    if (word == "edge") return Mode::edge;
    if (word == "wrap") return Mode::wrap;
    throw ValueError(fmt::format("{}: mode is {}, expected constant, reflect, edge or wrap",
                                 onnx::describe(node), printable(word)));
  }

  static std::vector<Ends> per_dimension(std::size_t rank, const detail::Integers& pads,
                                         const std::optional<detail::Integers>& axes,
                                         const std::string& who) {
    const std::size_t count = axes ? axes->size() : rank;
    if (pads.size() != 2 * count) {
      throw ShapeError(
          fmt::format("{}: {} pads are given for {} dimensions, expected twice as many", who,
                      pads.size(), count));
    }
    std::vector<Ends> result(rank);
    for (std::size_t i = 0; i < count; ++i) {
      result[axes ? normalize_axis((*axes)[i], rank, who) : i] = {pads[i], pads[count + i]};
    }
    return result;
  }

  /// Where in [0, size) place `i`, counted from x's first element, comes from; -1: from nowhere.
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

  void prepare(const TensorDesc& desc, const std::vector<Ends>& ends) {
    const Shape& x = desc.shape;
    TensorDesc padded = desc;
    for (std::size_t d = 0; d < ends.size(); ++d) padded.shape[d] += ends[d].begin + ends[d].end;
    if (padded.bytes() > memory_budget()) {
      throw MemoryError(fmt::format("Pad: {} takes more than the memory budget of {} bytes",
                                    to_string(padded), memory_budget()));
    }
    sources_.assign(x.rank(), {});
    std::int64_t step_x = 1, step_y = 1;
    for (std::size_t d = x.rank(); d-- > 0;) {
      const std::int64_t size = ends[d].begin + x[d] + ends[d].end;
      Sources& place = sources_[d];
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
  }

  /// Calls `f(place in y, place in x)` for each element of y that comes from x.
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

  void fill(const OpContext& context, Tensor& y) const {
    if (context.has_input(View::In::constant_value)) {
      const Tensor& value = context.input(View::In::constant_value);
      if (value.dtype() != y.dtype() || value.elements() != 1) {
        throw TypeError(fmt::format("{}: the constant is {}, expected one element of {}",
                                    context.who(), to_string(value.desc()), name_of(y.dtype())));
      }
      detail::fill_elements(y.dtype(), y.raw(), value.raw(), y.elements());
    } else if (value_ != 0) {
      dispatch(FloatTypes{}, y.dtype(), View::kName, [&]<class T>() {
        std::fill_n(y.data<T>(), y.elements(), T(Arithmetic<T>(value_)));
      });
    } else {
      detail::zero_elements(y);
    }
  }

  Mode mode_;
  std::optional<detail::Integers> pads_;
  float value_ = 0;
  std::vector<Sources> sources_;
  bool fixed_ = false;
};

}  // namespace

void register_pad(OperatorRegistry& registry) { registry.add<Pad>("Pad"); }

}  // namespace d5::ops

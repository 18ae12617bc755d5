// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/level0_ops/operator.hpp"
#include "level0_ops/integers_input.hpp"
#include "level0_ops/strided_loop.hpp"

namespace d5::detail {

/// The part of a reduction that does not depend on what is computed: its axes.
///
/// Shapes: y is x with every reduced axis 1, or without it (keepdims=0).
class Reduction : public Operator {
 public:
  explicit Reduction(const onnx::Node& node);
  std::vector<ValueDesc> infer(const InferContext& context) const final;
  void plan(PlanContext& context) override;
  bool differentiable(std::size_t input) const override { return input == 0; }

 protected:
  /// Where the axes were not known while planning.
  void resolve_axes(const OpContext& context);
  /// x's shape with every reduced axis 1: y's elements in x's dimensions.
  [[nodiscard]] Shape kept_shape(const Shape& x) const;
  /// Elements of x that make one of y.
  [[nodiscard]] std::int64_t reduced_elements(const Shape& x) const;

  /// Operands of `results`: y and x. Operand of `elements`: x, from where `results` stands.
  struct Loops {
    StridedLoop results{2}, elements{1};
  };
  [[nodiscard]] Loops loops(const Shape& x) const;

  /// y = R of the elements of x. R has a `State<T>`, in which `next` takes an element and from
  /// which `result` makes the answer; T is the type in which arithmetic is done.
  template <class R, class T>
  void reduce(const Tensor& x, Tensor& y) const {
    using A = Arithmetic<T>;
    const Loops walk = loops(x.shape());
    const std::int64_t count = reduced_elements(x.shape());
    const T* from = x.data<T>();
    T* to = y.data<T>();
    const std::int64_t step = walk.elements.step(0);
    const std::int64_t step_y = walk.results.step(0), step_x = walk.results.step(1);
    walk.results.run([&](const StridedLoop::Offsets& at, std::int64_t results) {
      for (std::int64_t i = 0; i < results; ++i) {
        typename R::template State<A> state{};
        const T* start = from + at[1] + i * step_x;
        walk.elements.run_in_order([&](const StridedLoop::Offsets& inner, std::int64_t length) {
          const T* element = start + inner[0];
          for (std::int64_t k = 0; k < length; ++k) {
            R::template next<A>(state, A(element[k * step]));
          }
        });
        to[at[0] + i * step_y] = T(R::template result<A>(state, count));
      }
    });
  }

 private:
  [[nodiscard]] std::vector<bool> reduced_dims(std::size_t rank,
                                               const std::optional<Integers>& axes,
                                               const std::string& who) const;

  bool keeps_, nothing_without_axes_, fixed_ = false;
  std::optional<Integers> axes_;
  std::vector<bool> reduced_;  // for each dimension of x
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level0_ops/kernels/strided_loop.hpp"
#include "level0_ops/operator/integers.hpp"

// Reductions along axes.
//
// A reduction R is a struct of static functions; A is the type in which arithmetic is done.
// - `State<A>`, with `next<A>(state, x)` to add an element and `result<A>(state, count)` for the
// result;
// - `gradient<T>(x, y, dy, of)`: the gradient of an element x of the result y. `of` is the number
//   of elements that made y or, if that is not enough, R's `Tally<T>` of these elements: begun with
//   its default for each result, then shown every element by `tally<T>(of, x, y)`;
// - `Types`; `kReadsInput` and `kReadsOutput`: whether the gradient needs x, y;
// - `kFlop`: operations an element, `kFlopOfResult`: those that end each result.
namespace d5::detail {

/// Loops over a reduced tensor.
struct ReductionLoops {
  /// `reduced` has an entry for each dimension of x.
  ReductionLoops(const Shape& x, const std::vector<bool>& reduced);

  StridedLoop results{2};   ///< y and x: first element of each result
  StridedLoop elements{1};  ///< x, relative to the first: the elements of a result
  StridedLoop pairs{2};     ///< x and y: every element and its result
  std::int64_t count = 1;   ///< elements of x per element of y
  std::int64_t size = 1;    ///< elements of y
};

template <class R>
struct TallyBytes {
  static constexpr std::size_t kBytes = 0;
};
template <class R>
  requires requires { typename R::template Tally<double>; }
struct TallyBytes<R> {
  static constexpr std::size_t kBytes = sizeof(typename R::template Tally<double>);
};

template <class R, class T>
class ReductionKernel final : public Kernel {
 public:
  explicit ReductionKernel(const ReductionLoops& loops) : loops_(loops) {}

  void forward(OpContext& context) override {
    using A = Arithmetic<T>;
    const T* from = context.input(0).data<T>();
    T* to = context.output(0).data<T>();
    const std::int64_t step = loops_.elements.step(0);
    const std::int64_t step_y = loops_.results.step(0), step_x = loops_.results.step(1);
    loops_.results.run([&](const StridedLoop::Offsets& at, std::int64_t results) {
      for (std::int64_t i = 0; i < results; ++i) {
        typename R::template State<A> state{};
        const T* start = from + at[1] + i * step_x;
        loops_.elements.run_in_order([&](const StridedLoop::Offsets& inner, std::int64_t length) {
          const T* element = start + inner[0];
          for (std::int64_t k = 0; k < length; ++k) {
            R::template next<A>(state, A(element[k * step]));
          }
        });
        to[at[0] + i * step_y] = T(R::template result<A>(state, loops_.count));
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = R::kReadsInput ? context.input(0).data<T>() : nullptr;
      const T* y = R::kReadsOutput ? context.output(0).data<T>() : nullptr;
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const auto x_at = [x](std::int64_t i) { return R::kReadsInput ? x[i] : T(0); };
      const auto y_at = [y](std::int64_t i) { return R::kReadsOutput ? y[i] : T(0); };
      const std::int64_t step = loops_.pairs.step(1);
      if constexpr (TallyBytes<R>::kBytes > 0) {
        using Tally = typename R::template Tally<T>;
        Tally* tallies = context.scratch_as<Tally>();
        std::fill_n(tallies, loops_.size, Tally{});
        loops_.pairs.run_in_order([=](const StridedLoop::Offsets& at, std::int64_t length) {
          for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t of = at[1] + i * step;
            R::template tally<T>(tallies[of], x_at(at[0] + i), y_at(of));
          }
        });
        loops_.pairs.run([=](const StridedLoop::Offsets& at, std::int64_t length) {
          for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t of = at[1] + i * step;
            dx[at[0] + i] = R::template gradient<T>(x_at(at[0] + i), y_at(of), dy[of], tallies[of]);
          }
        });
      } else {
        loops_.pairs.run(
            [=, count = loops_.count](const StridedLoop::Offsets& at, std::int64_t length) {
              for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t of = at[1] + i * step;
                dx[at[0] + i] = R::template gradient<T>(x_at(at[0] + i), y_at(of), dy[of], count);
              }
            });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = R::kReadsInput ? Places{0} : Places{},
            .backward_reads_outputs = R::kReadsOutput ? Places{0} : Places{}};
  }

 private:
  ReductionLoops loops_;
};

/// The common part of reductions: their axes.
///
/// Shapes: y is x with every reduced axis 1, or without it (keepdims=0).
class Reduction : public Operator {
 public:
  /// All reductions have the same attributes.
  template <class View>
  explicit Reduction(const View& view)
      : keeps_(view.keepdims() != 0),
        nothing_without_axes_(view.noop_with_empty_axes() != 0),
        axes_(view.axes()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const final;
  Places gradients() const final { return {0}; }

 protected:
  [[nodiscard]] ReductionLoops loops(const PlanContext& context) const;
  [[nodiscard]] Cost cost_of(const InferContext& context, double flop, double flop_of_result) const;

 private:
  /// One entry per dimension. The axes must be known.
  [[nodiscard]] std::vector<bool> reduced_dims(const InferContext& context) const;

  bool keeps_, nothing_without_axes_;
  std::optional<Integers> axes_;  // since opset 13 (ReduceSum) or 18 an input
};

template <class R, class View>
class ReductionOperator final : public Reduction {
 public:
  explicit ReductionOperator(const View& view) : Reduction(view) {}
  Cost cost(const InferContext& context) const override {
    return cost_of(context, R::kFlop, R::kFlopOfResult);
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const ReductionLoops walk = loops(context);
    if (context.wants_backward()) {
      context.request_scratch(std::size_t(walk.size) * TallyBytes<R>::kBytes);
    }
    return kernel_for(typename R::Types{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<ReductionKernel<R, T>>(walk); });
  }
};

/// Registers a reduction: `add_reduction<Sum, nodes::ReduceSum>(registry)`.
template <class R, class View>
void add_reduction(OperatorRegistry& registry) {
  registry.add<ReductionOperator<R, View>, View>();
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
// ReduceMax and ReduceMin: the largest or smallest element along some axes.
#include <algorithm>
#include <limits>

#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/reduction.hpp"

namespace d5::ops {
namespace {

using OrderedTypes = Join<NumberTypes, Types<bool>>;

/// NaN wins.
template <bool largest>
struct ExtremeReduction {
  template <class T>
  struct State {
    using Limits = std::numeric_limits<T>;
    T best = Limits::has_infinity ? (largest ? T(-Limits::infinity()) : Limits::infinity())
                                  : (largest ? Limits::lowest() : Limits::max());
  };
  template <class T>
  static void next(State<T>& state, T x) {
    if ((largest ? x > state.best : x < state.best) || x != x) state.best = x;
  }
  template <class T>
  static T result(const State<T>& state, std::int64_t) {
    return state.best;
  }
};

/// The gradient goes to the elements that hold the extreme value, in equal parts.
template <bool largest>
class ReduceExtreme final : public detail::Reduction {
 public:
  using Reduction::Reduction;

  void plan(PlanContext& context) override {
    Reduction::plan(context);
    if (context.mode() == Mode::training && context.value(0).is_static()) {
      context.request_scratch(context.input(0).bytes());
    }
  }

  void forward(OpContext& context) override {
    resolve_axes(context);
    const Tensor& x = context.input(0);
    dispatch(OrderedTypes{}, x.dtype(), context.node().op_type,
             [&]<class T>() { reduce<ExtremeReduction<largest>, T>(x, context.output(0)); });
  }

  void backward(GradContext& context) override {
    const Tensor &x = context.input(0), &y = context.output(0);
    const Shape kept = kept_shape(x.shape());
    const auto loop = detail::broadcast_loop(x.shape(), {&kept});
    const std::int64_t step = loop.step(1);
    dispatch(RealTypes{}, x.dtype(), context.node().op_type, [&]<class T>() {
      const T *in = x.data<T>(), *out = y.data<T>(), *dy = context.grad_output(0).data<T>();
      T *dx = context.grad_input(0).data<T>(), *holders = context.scratch_as<T>();
      std::fill_n(holders, y.elements(), T(0));
      loop.run_in_order([=](const detail::StridedLoop::Offsets& at, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          holders[at[1] + i * step] += T(in[at[0] + i] == out[at[1] + i * step]);
        }
      });
      loop.run([=](const detail::StridedLoop::Offsets& at, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          const std::int64_t from = at[1] + i * step;
          dx[at[0] + i] = in[at[0] + i] == out[from] ? dy[from] / holders[from] : T(0);
        }
      });
    });
  }
};

}  // namespace

void register_reduce_extreme(OperatorRegistry& registry) {
  registry.add<ReduceExtreme<true>>("ReduceMax");
  registry.add<ReduceExtreme<false>>("ReduceMin");
}

}  // namespace d5::ops

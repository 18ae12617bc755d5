// SPDX-License-Identifier: Apache-2.0
// ReduceMax and ReduceMin: the largest or smallest element along axes.
#include <limits>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/reduction/reduction.hpp"

namespace d5::ops {
namespace {

/// NaN wins. The gradient is divided equally among the elements with the extreme value.
template <bool largest>
struct Extreme {
  using Types = Join<NumberTypes, d5::Types<bool>>;
  static constexpr bool kReadsInput = true, kReadsOutput = true;
  static constexpr double kFlop = 1, kFlopOfResult = 0;

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

  // Number of elements with the extreme value.
  template <class T>
  using Tally = T;
  template <class T>
  static void tally(T& holders, T x, T y) {
    holders += T(x == y);
  }
  template <class T>
  static T gradient(T x, T y, T dy, T holders) {
    return x == y ? dy / holders : T(0);
  }
};

}  // namespace

void register_reduce_extreme(OperatorRegistry& registry) {
  detail::add_reduction<Extreme<true>, onnx::nodes::ReduceMax>(registry);
  detail::add_reduction<Extreme<false>, onnx::nodes::ReduceMin>(registry);
}

}  // namespace d5::ops

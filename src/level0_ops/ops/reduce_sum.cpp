// SPDX-License-Identifier: Apache-2.0
// ReduceSum, ReduceMean, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp: a sum
// along some axes, with a function before or after it.
#include <cmath>
#include <limits>

#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/reduction.hpp"

namespace d5::ops {
namespace {

using SummedTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;
using OrderedTypes = Join<NumberTypes, Types<bool>>;

/// Sums of floats are accumulated in double, of integers in their own type.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

// A reduction: `start`, then `next` for each element, then `result` with the number of elements.
// `slope` is the derivative of the result y for an element x of `count`.
struct SumReduction {
  using TypeList = SummedTypes;
  template <class T>
  using State = Sum<T>;
  template <class T>
  static void next(Sum<T>& sum, T x) {
    sum += Sum<T>(x);
  }
  template <class T>
  static T result(Sum<T> sum, std::int64_t) {
    return T(sum);
  }
  template <class T>
  static T slope(T, T, std::int64_t) {
    return 1;
  }
};

struct MeanReduction : SumReduction {
  template <class T>
  static T result(Sum<T> sum, std::int64_t count) {
    if constexpr (std::is_integral_v<T>) return count == 0 ? T(0) : T(T(sum) / T(count));
    return T(sum / double(count));
  }
  template <class T>
  static T slope(T, T, std::int64_t count) {
    return T(1) / T(count);
  }
};

struct L1Reduction : SumReduction {
  template <class T>
  static void next(Sum<T>& sum, T x) {
    sum += x < T(0) ? Sum<T>(0) - Sum<T>(x) : Sum<T>(x);
  }
  template <class T>
  static T slope(T x, T, std::int64_t) {
    return T((x > 0) - (x < 0));
  }
};

struct SumSquareReduction : SumReduction {
  template <class T>
  static void next(Sum<T>& sum, T x) {
    sum += Sum<T>(x) * Sum<T>(x);
  }
  template <class T>
  static T slope(T x, T, std::int64_t) {
    return T(2) * x;
  }
};

struct L2Reduction : SumSquareReduction {
  template <class T>
  static T result(Sum<T> sum, std::int64_t) {
    return T(std::sqrt(double(sum)));
  }
  template <class T>
  static T slope(T x, T y, std::int64_t) {
    return y == 0 ? T(0) : x / y;
  }
};

struct LogSumReduction : SumReduction {
  template <class T>
  static T result(Sum<T> sum, std::int64_t) {
    return T(std::log(double(sum)));
  }
  template <class T>
  static T slope(T, T y, std::int64_t) {
    return std::exp(-y);
  }
};

/// log(sum(exp(x))), relative to the largest element so far, so that nothing overflows.
struct LogSumExpReduction {
  using TypeList = SummedTypes;
  template <class T>
  struct State {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  };
  template <class T>
  static void next(State<T>& state, T x) {
    const auto value = double(x);
    if (value > state.largest) {
      state.sum = state.sum * std::exp(state.largest - value) + 1;
      state.largest = value;
    } else if (value == state.largest) {
      state.sum += 1;  // two infinities too
    } else {
      state.sum += std::exp(value - state.largest);
    }
  }
  template <class T>
  static T result(const State<T>& state, std::int64_t) {
    return T(state.largest + std::log(state.sum));
  }
  template <class T>
  static T slope(T x, T y, std::int64_t) {
    return std::exp(x - y);
  }
};

template <class Function>
class SumLike final : public detail::Reduction {
 public:
  using Reduction::Reduction;

  void forward(OpContext& context) override {
    resolve_axes(context);
    const Tensor& x = context.input(0);
    dispatch(typename Function::TypeList{}, x.dtype(), context.node().op_type,
             [&]<class T>() { reduce<Function, T>(x, context.output(0)); });
  }

  void backward(GradContext& context) override {
    const Tensor &x = context.input(0), &y = context.output(0);
    const Shape kept = kept_shape(x.shape());
    const auto loop = detail::broadcast_loop(x.shape(), {&kept});
    const std::int64_t step = loop.step(1), count = reduced_elements(x.shape());
    dispatch(RealTypes{}, x.dtype(), context.node().op_type, [&]<class T>() {
      const T *in = x.data<T>(), *out = y.data<T>(), *dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      loop.run([=](const detail::StridedLoop::Offsets& at, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          const std::int64_t from = at[1] + i * step;
          dx[at[0] + i] = dy[from] * Function::template slope<T>(in[at[0] + i], out[from], count);
        }
      });
    });
  }
};

}  // namespace

void register_reduce_sum(OperatorRegistry& registry) {
  registry.add<SumLike<SumReduction>>("ReduceSum");
  registry.add<SumLike<MeanReduction>>("ReduceMean");
  registry.add<SumLike<L1Reduction>>("ReduceL1");
  registry.add<SumLike<L2Reduction>>("ReduceL2");
  registry.add<SumLike<SumSquareReduction>>("ReduceSumSquare");
  registry.add<SumLike<LogSumReduction>>("ReduceLogSum");
  registry.add<SumLike<LogSumExpReduction>>("ReduceLogSumExp");
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// ReduceSum, ReduceMean, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp: sums
// along axes, with a function before or after the sum.
#include <cmath>
#include <limits>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/reduction/reduction.hpp"

namespace d5::ops {
namespace {

using detail::add_reduction;
namespace nodes = onnx::nodes;

template <class T>
using Total = detail::Accumulator<T>;

struct Sum {
  using Types = detail::SummedTypes;
  static constexpr bool kReadsInput = false, kReadsOutput = false;
  static constexpr double kFlop = 1, kFlopOfResult = 0;
  template <class T>
  using State = Total<T>;
  template <class T>
  static void next(Total<T>& sum, T x) {
    sum += Total<T>(x);
  }
  template <class T>
  static T result(Total<T> sum, std::int64_t) {
    return T(sum);
  }
  template <class T>
  static T gradient(T, T, T dy, std::int64_t) {
    return dy;
  }
};

struct Mean : Sum {
  static constexpr double kFlopOfResult = 1;
  template <class T>
  static T result(Total<T> sum, std::int64_t count) {
    if constexpr (std::is_integral_v<T>) return count == 0 ? T(0) : T(T(sum) / T(count));
    return T(sum / double(count));
  }
  template <class T>
  static T gradient(T, T, T dy, std::int64_t count) {
    return dy * (T(1) / T(count));
  }
};

struct L1 : Sum {
  static constexpr bool kReadsInput = true;
  static constexpr double kFlop = 2;
  template <class T>
  static void next(Total<T>& sum, T x) {
    sum += x < T(0) ? Total<T>(0) - Total<T>(x) : Total<T>(x);
  }
  template <class T>
  static T gradient(T x, T, T dy, std::int64_t) {
    return dy * T((x > 0) - (x < 0));
  }
};

struct SumSquare : Sum {
  static constexpr bool kReadsInput = true;
  static constexpr double kFlop = 2;
  template <class T>
  static void next(Total<T>& sum, T x) {
    sum += Total<T>(x) * Total<T>(x);
  }
  template <class T>
  static T gradient(T x, T, T dy, std::int64_t) {
    return dy * (T(2) * x);
  }
};

struct L2 : SumSquare {
  static constexpr bool kReadsOutput = true;
  static constexpr double kFlopOfResult = 1;
  template <class T>
  static T result(Total<T> sum, std::int64_t) {
    return T(std::sqrt(double(sum)));
  }
  template <class T>
  static T gradient(T x, T y, T dy, std::int64_t) {
    return dy * (y == 0 ? T(0) : x / y);
  }
};

struct LogSum : Sum {
  static constexpr bool kReadsOutput = true;
  static constexpr double kFlopOfResult = 1;
  template <class T>
  static T result(Total<T> sum, std::int64_t) {
    if constexpr (std::is_integral_v<T>) {
      // NaN and minus infinity become the smallest integer, as in NumPy.
      const T whole = T(sum);
      return whole > 0 ? T(std::log(double(whole))) : std::numeric_limits<T>::lowest();
    } else {
      return T(std::log(sum));
    }
  }
  template <class T>
  static T gradient(T, T y, T dy, std::int64_t) {
    return dy * std::exp(-y);
  }
};

/// log(sum(exp(x))), relative to the largest element so far, to avoid overflow.
struct LogSumExp {
  using Types = detail::SummedTypes;
  static constexpr bool kReadsInput = true, kReadsOutput = true;
  static constexpr double kFlop = 2, kFlopOfResult = 1;
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
      state.sum += 1;  // also for two infinities
    } else {
      state.sum += std::exp(value - state.largest);
    }
  }
  template <class T>
  static T result(const State<T>& state, std::int64_t) {
    return T(state.largest + std::log(state.sum));
  }
  template <class T>
  static T gradient(T x, T y, T dy, std::int64_t) {
    return dy * std::exp(x - y);
  }
};

}  // namespace

void register_reduce_sum(OperatorRegistry& registry) {
  add_reduction<Sum, nodes::ReduceSum>(registry);
  add_reduction<Mean, nodes::ReduceMean>(registry);
  add_reduction<L1, nodes::ReduceL1>(registry);
  add_reduction<L2, nodes::ReduceL2>(registry);
  add_reduction<SumSquare, nodes::ReduceSumSquare>(registry);
  add_reduction<LogSum, nodes::ReduceLogSum>(registry);
  add_reduction<LogSumExp, nodes::ReduceLogSumExp>(registry);
}

}  // namespace d5::ops

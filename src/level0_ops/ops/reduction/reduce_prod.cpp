// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product along axes.
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/reduction/reduction.hpp"

namespace d5::ops {
namespace {

/// The slope of an element is the product of all others, also correct for zeros.
struct Product {
  using Types =
      Join<FloatTypes, d5::Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;
  static constexpr bool kReadsInput = true, kReadsOutput = false;
  static constexpr double kFlop = 1, kFlopOfResult = 0;

  template <class T>
  struct State {
    std::conditional_t<std::is_integral_v<T>, std::uint64_t, double> product = 1;
  };
  template <class T>
  static void next(State<T>& state, T x) {
    state.product *= decltype(state.product)(x);
  }
  template <class T>
  static T result(const State<T>& state, std::int64_t) {
    return T(state.product);
  }

  template <class T>
  struct Tally {
    double product = 1;  // product of the nonzero elements
    double zeros = 0;    // number of zeros
  };
  template <class T>
  static void tally(Tally<T>& of, T x, T) {
    if (x == 0) {
      of.zeros += 1;
    } else {
      of.product *= double(x);
    }
  }
  template <class T>
  static T gradient(T x, T, T dy, const Tally<T>& of) {
    const double others = of.zeros == 0             ? of.product / double(x)
                          : of.zeros == 1 && x == 0 ? of.product
                                                    : 0.0;
    return T(double(dy) * others);
  }
};

}  // namespace

void register_reduce_prod(OperatorRegistry& registry) {
  detail::add_reduction<Product, onnx::nodes::ReduceProd>(registry);
}

}  // namespace d5::ops

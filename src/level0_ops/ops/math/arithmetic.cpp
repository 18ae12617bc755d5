// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div: elementwise arithmetic, with broadcasting.
#include <concepts>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

using detail::add_binary;
using detail::Wrapping;
namespace nodes = onnx::nodes;

struct Add {
  using Types = NumberTypes;
  static constexpr int kSlopeA = 1, kSlopeB = 1;
  template <class T>
  T value(T a, T b) const {
    return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

struct Sub {
  using Types = NumberTypes;
  static constexpr int kSlopeA = 1, kSlopeB = -1;
  template <class T>
  T value(T a, T b) const {
    return T(Wrapping<T>(a) - Wrapping<T>(b));
  }
};

struct Mul {
  using Types = NumberTypes;
  static constexpr bool kSlopesOfOthers = true;
  template <class T>
  T value(T a, T b) const {
    return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
  template <class T>
  T slope_a(T, T b) const {
    return b;
  }
  template <class T>
  T slope_b(T a, T) const {
    return a;
  }
};

/// Integer division truncates towards zero.
struct Div {
  using Types = NumberTypes;
  static constexpr bool kDivides = true;
  template <class T>
  T value(T a, T b) const {
    if constexpr (std::signed_integral<T>) {
      if (b == T(-1)) return T(Wrapping<T>(0) - Wrapping<T>(a));  // the smallest / -1 would trap
    }
    return T(a / b);
  }
  template <class T>
  T slope_a(T, T b) const {
    return T(1) / b;
  }
  template <class T>
  T slope_b(T a, T b) const {
    return -a / (b * b);
  }
};

}  // namespace

void register_arithmetic(OperatorRegistry& registry) {
  add_binary<Add, nodes::Add>(registry);
  add_binary<Sub, nodes::Sub>(registry);
  add_binary<Mul, nodes::Mul>(registry);
  add_binary<Div, nodes::Div>(registry);
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// And, Or, Xor, Not on truth values; BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot on integers.
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

using detail::add_binary;
using detail::add_unary;
namespace nodes = onnx::nodes;
using Truth = Types<bool>;

// A truth value is an integer of one bit: the bitwise functions serve both.
template <class List>
struct And {
  using Types = List;
  template <class T>
  T value(T a, T b) const {
    return T(a & b);
  }
};
template <class List>
struct Or {
  using Types = List;
  template <class T>
  T value(T a, T b) const {
    return T(a | b);
  }
};
template <class List>
struct Xor {
  using Types = List;
  template <class T>
  T value(T a, T b) const {
    return T(a ^ b);
  }
};
struct Not {
  using Types = Truth;
  bool value(bool x) const { return !x; }
};
struct BitwiseNot {
  using Types = IntegerTypes;
  template <class T>
  T value(T x) const {
    return T(~x);
  }
};

}  // namespace

void register_logical(OperatorRegistry& registry) {
  add_binary<And<Truth>, nodes::And>(registry);
  add_binary<Or<Truth>, nodes::Or>(registry);
  add_binary<Xor<Truth>, nodes::Xor>(registry);
  add_unary<Not, nodes::Not>(registry);
  add_binary<And<IntegerTypes>, nodes::BitwiseAnd>(registry);
  add_binary<Or<IntegerTypes>, nodes::BitwiseOr>(registry);
  add_binary<Xor<IntegerTypes>, nodes::BitwiseXor>(registry);
  add_unary<BitwiseNot, nodes::BitwiseNot>(registry);
}

}  // namespace d5::ops

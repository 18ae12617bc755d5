// SPDX-License-Identifier: Apache-2.0
// Mod: the remainder of a division, with the sign of the divisor or (fmod) of the dividend.
#include <cmath>
#include <concepts>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

template <class T>
T truncated(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::fmod(a, b);
  else if constexpr (std::signed_integral<T>)
    return b == T(-1) ? T(0) : T(a % b);
  else
    return T(a % b);
}

template <class T>
T floored(T a, T b) {
  T rest = truncated(a, b);
  if constexpr (std::floating_point<T>) {
    if (rest == 0) return std::copysign(T(0), b);
  }
  if (rest != 0 && (rest < 0) != (b < 0)) rest = T(rest + b);
  return rest;
}

/// Shapes: A and B are broadcast to C.
class Mod final : public Operator {
 public:
  explicit Mod(const onnx::Node& node) : truncates_(onnx::nodes::Mod(node).fmod() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {detail::infer_binary(context)};
  }

  void forward(OpContext& context) override {
    const Tensor &a = context.input(0), &b = context.input(1);
    Tensor& c = context.output(0);
    const auto loop = detail::broadcast_loop(c.shape(), {&a.shape(), &b.shape()});
    dispatch(NumberTypes{}, c.dtype(), "Mod", [&]<class T>() {
      using A = Arithmetic<T>;
      if constexpr (std::integral<T>) {
        detail::expect_no_zeros(b.span<T>(), context.node());
      }
      detail::apply_binary(loop, c.data<T>(), a.data<T>(), b.data<T>(),
                           [truncates = truncates_](T x, T y) {
                             return T(truncates ? truncated(A(x), A(y)) : floored(A(x), A(y)));
                           });
    });
  }

 private:
  bool truncates_;
};

}  // namespace

void register_mod(OperatorRegistry& registry) { registry.add<Mod>("Mod", {.since = 10}); }

}  // namespace d5::ops

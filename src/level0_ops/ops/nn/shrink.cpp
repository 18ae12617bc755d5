// SPDX-License-Identifier: Apache-2.0
// Shrink: shrinks x towards zero (soft or hard thresholding).
#include <cmath>
#include <concepts>
#include <cstdint>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

using ShrinkView = onnx::nodes::Shrink;

/// y = x + bias below -lambd, x - bias above lambd, 0 between.
struct Shrink {
  using Types = NumberTypes;
  explicit Shrink(const ShrinkView& view) : bias(view.bias()), lambd(view.lambd()) {}

  template <class T>
  T value(T x) const {
    if constexpr (std::floating_point<T>) {
      if (x < -T(lambd)) return x + T(bias);
      return x > T(lambd) ? x - T(bias) : T(0);
    } else {
      // The bias is truncated to an integer, and sums wrap around.
      const auto shift = std::uint64_t(std::abs(bias) < 0x1p63f ? std::int64_t(bias) : 0);
      if (double(x) < -double(lambd)) return T(std::uint64_t(x) + shift);
      return double(x) > double(lambd) ? T(std::uint64_t(x) - shift) : T(0);
    }
  }
  template <class T>
  T slope(T x) const {
    return x < -T(lambd) || x > T(lambd) ? T(1) : T(0);
  }

  float bias, lambd;
};

}  // namespace

void register_shrink(OperatorRegistry& registry) {
  detail::add_unary<Shrink, ShrinkView>(registry);
}

}  // namespace d5::ops

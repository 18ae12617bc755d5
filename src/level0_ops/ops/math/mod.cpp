// SPDX-License-Identifier: Apache-2.0
// Mod: the remainder of a division, with the sign of the divisor or (fmod) of the dividend.
#include <cmath>
#include <concepts>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

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

struct Mod {
  using Types = NumberTypes;
  static constexpr bool kDivides = true;
  explicit Mod(const nodes::Mod& view) : truncates(view.fmod() != 0) {}
  template <class T>
  T value(T a, T b) const {
    return truncates ? truncated(a, b) : floored(a, b);
  }
  /// Piecewise a minus an integer multiple of b.
  template <class T>
  T slope_a(T, T) const {
    return 1;
  }
  template <class T>
  T slope_b(T a, T b) const {
    return -(truncates ? std::trunc(a / b) : std::floor(a / b));
  }
  bool truncates;
};

}  // namespace

void register_mod(OperatorRegistry& registry) { detail::add_binary<Mod, nodes::Mod>(registry); }

}  // namespace d5::ops

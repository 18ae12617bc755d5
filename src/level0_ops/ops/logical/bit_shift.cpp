// SPDX-License-Identifier: Apache-2.0
// BitShift: shifts integers to the left or to the right.
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Distances outside [0, bits) leave only copies of the sign.
struct BitShift {
  using Types = IntegerTypes;

  explicit BitShift(const nodes::BitShift& view) : left(view.direction() == "LEFT") {
    const std::string direction = view.direction();
    if (direction != "LEFT" && direction != "RIGHT") {
      throw ValueError(fmt::format("{}: direction is {}, expected LEFT or RIGHT",
                                   onnx::describe(view.node()), printable(direction)));
    }
  }

  template <class T>
  T value(T x, T y) const {
    const bool inside = y >= T(0) && std::uint64_t(y) < 8 * sizeof(T);
    if (left) return inside ? T(std::uint64_t(x) << y) : T(0);
    return inside ? T(x >> y) : x < T(0) ? T(-1) : T(0);
  }

  bool left;
};

}  // namespace

void register_bit_shift(OperatorRegistry& registry) {
  detail::add_binary<BitShift, nodes::BitShift>(registry);
}

}  // namespace d5::ops

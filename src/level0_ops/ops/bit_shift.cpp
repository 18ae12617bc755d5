// SPDX-License-Identifier: Apache-2.0
// BitShift: integers moved bit by bit to the left or to the right.
#include <fmt/format.h>

#include <type_traits>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

/// Distances outside [0, bits) leave nothing but copies of the sign.
template <class T>
T shifted_right(T x, T y) {
  const bool inside = y >= T(0) && std::uint64_t(y) < 8 * sizeof(T);
  return inside ? T(x >> y) : x < T(0) ? T(-1) : T(0);
}
template <class T>
T shifted_left(T x, T y) {
  const bool inside = y >= T(0) && std::uint64_t(y) < 8 * sizeof(T);
  return inside ? T(std::uint64_t(x) << y) : T(0);
}

/// Shapes: X and Y are broadcast to Z.
class BitShift final : public Operator {
 public:
  explicit BitShift(const onnx::Node& node) {
    const std::string direction = onnx::nodes::BitShift(node).direction();
    if (direction != "LEFT" && direction != "RIGHT") {
      throw ValueError(fmt::format("{}: direction is {}, expected LEFT or RIGHT",
                                   onnx::describe(node), printable(direction)));
    }
    left_ = direction == "LEFT";
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {detail::infer_binary(context)};
  }

  void forward(OpContext& context) override {
    const Tensor &x = context.input(0), &y = context.input(1);
    Tensor& z = context.output(0);
    const auto loop = detail::broadcast_loop(z.shape(), {&x.shape(), &y.shape()});
    dispatch(IntegerTypes{}, z.dtype(), "BitShift", [&]<class T>() {
      detail::apply_binary(loop, z.data<T>(), x.data<T>(), y.data<T>(), [left = left_](T a, T b) {
        return left ? shifted_left(a, b) : shifted_right(a, b);
      });
    });
  }

 private:
  bool left_ = false;
};

}  // namespace

void register_bit_shift(OperatorRegistry& registry) {
  registry.add<BitShift>("BitShift", {.since = 11});
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// BitShift: shifts the bits of integers to the left or to the right.
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_left_shift.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/where.h>

#include <limits>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using BitShiftView = onnx::nodes::BitShift;

/// Shifts all integers as int64: above the bits of a smaller type there are only copies of its
/// sign.
class BitShift final : public TorchKernel {
 public:
  explicit BitShift(const PlanContext& context)
      : TorchKernel(context),
        left_(BitShiftView(node()).direction() == "LEFT"),
        type_(scalar_type(context.dtype(0))) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    if (type_ == at::kUInt64) {
      results[0] = shifted_bits(inputs[0].view(at::kLong), inputs[1].view(at::kLong)).view(type_);
      return;
    }
    const at::Tensor x = inputs[0].to(at::kLong), y = inputs[1].to(at::kLong);
    results[0] = (left_ ? at::bitwise_left_shift(x, y) : at::bitwise_right_shift(x, y)).to(type_);
  }

 private:
  /// For uint64, whose first bit is not a sign. A distance of 2^63 or more counts as negative.
  at::Tensor shifted_bits(const at::Tensor& x, const at::Tensor& y) const {
    if (left_) return at::bitwise_left_shift(x, y);
    const at::Tensor half =
        at::bitwise_and(at::bitwise_right_shift(x, 1), std::numeric_limits<std::int64_t>::max());
    return at::where(y == 0, x, at::bitwise_right_shift(half, y - 1));
  }

  bool left_;
  at::ScalarType type_;
};

}  // namespace

void register_bit_shift(OperatorRegistry& registry) {
  add<BitShift, BitShiftView>(registry, stores);
}

}  // namespace d5::torch

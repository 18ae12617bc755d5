// SPDX-License-Identifier: Apache-2.0
// Mod: the remainder of a division, with the sign of the divisor or (fmod) of the dividend.
#include <ATen/ops/copysign.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/where.h>

#include "d5/onnx/nodes.hpp"
#include "torch_binary.hpp"

namespace d5::torch {
namespace {

using ModView = onnx::nodes::Mod;

class Mod final : public TorchKernel {
 public:
  explicit Mod(const PlanContext& context)
      : TorchKernel(context),
        truncates_(ModView(node()).fmod() != 0),
        floats_(is_floating_point(context.dtype(0))) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor &a = inputs[0], &b = inputs[1];
    if (!floats_) {
      const BinaryFunction function{.call = truncates_ ? truncated : floored,
                                    .large = BinaryFunction::Unsigned::narrow};
      results[0] = function(a, b);
      return;
    }
    results[0] = truncates_ ? at::fmod(a, b) : at::remainder(a, b);
    if (truncates_) return;
    const at::Tensor& rest = results[0];
    results[0] = at::where(rest == 0, at::copysign(rest, b), rest);
  }

 private:
  /// Replaces -1, by which the processor cannot divide the least number; the remainder by 1 is the
  /// same.
  static at::Tensor divisor(const at::Tensor& b) {
    return at::isSignedType(b.scalar_type()) ? b.masked_fill(b == -1, 1) : b;
  }
  static at::Tensor truncated(const at::Tensor& a, const at::Tensor& b) {
    return at::fmod(a, divisor(b));
  }
  static at::Tensor floored(const at::Tensor& a, const at::Tensor& b) {
    return at::remainder(a, divisor(b));
  }

  bool truncates_, floats_;
};

Support divides(const PlanContext& context) {
  return context.dtype(0) == DType::uint64 ? Support{"Mod on uint64"} : stores(context);
}

}  // namespace

void register_modulo(OperatorRegistry& registry) { add<Mod, ModView>(registry, divides); }

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#include "torch_binary.hpp"

#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/sum.h>

#include <limits>

namespace d5::torch {
namespace {

/// Maps uint64 to int64 in the same order, and back.
at::Tensor shifted(const at::Tensor& x) {
  return at::bitwise_xor(x, std::numeric_limits<std::int64_t>::lowest());
}

}  // namespace

Summed::Summed(const Shape& operand, const Shape& result)
    : kept_(result.rank() - operand.rank(), 1) {
  const std::size_t extra = kept_.size();
  kept_.insert(kept_.end(), operand.begin(), operand.end());
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (i < extra || (kept_[i] == 1 && result[i] != 1)) dims_.push_back(std::int64_t(i));
  }
}

void Summed::write(at::Tensor& dx, const at::Tensor& full) const {
  if (trivial()) {
    dx.copy_(full);
  } else {
    at::Tensor sums = dx.view(kept_);
    at::sum_out(sums, full, dims_, /*keepdim=*/true);
  }
}

std::vector<Summed> sums_of(const PlanContext& context) {
  std::vector<Summed> sums;
  for (std::size_t i = 0; context.wants_backward() && i < context.input_count(); ++i) {
    sums.emplace_back(context.shape(i), context.output(0).shape);
  }
  return sums;
}

bool BinaryFunction::takes(at::ScalarType type) const {
  const bool is_large = type == at::kUInt16 || type == at::kUInt32 || type == at::kUInt64;
  return !is_large || large == Unsigned::native;
}

at::Tensor BinaryFunction::operator()(const at::Tensor& a, const at::Tensor& b) const {
  const at::ScalarType type = a.scalar_type();
  if (takes(type)) return call(a, b);
  if (type != at::kUInt64) {
    const at::Tensor y = call(a.to(at::kLong), b.to(at::kLong));
    return y.scalar_type() == at::kBool ? y : y.to(type);
  }
  const at::Tensor x = a.view(at::kLong), z = b.view(at::kLong);
  if (large == Unsigned::bits) return call(x, z).view(type);
  const at::Tensor y = call(shifted(x), shifted(z));
  return y.scalar_type() == at::kBool ? y : shifted(y).view(type);
}

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#include "torch_quantization.hpp"

#include <ATen/ops/clamp.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>

#include <limits>
#include <utility>

namespace d5::torch {
namespace {

/// Range of an integer type of quantized numbers.
std::pair<double, double> range_of(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return {0, 255};
    case at::kChar:
      return {-128, 127};
    case at::kUInt16:
      return {0, 65535};
    default:
      return {-32768, 32767};
  }
}

double largest_of(at::ScalarType type) {
  if (type == at::kFloat8_e4m3fn) return 448;
  if (type == at::kFloat8_e4m3fnuz) return 240;
  return 57344;
}

}  // namespace

bool is_float8(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2 ||
         type == at::kFloat8_e5m2fnuz;
}

at::Tensor to_float8(const at::Tensor& x, at::ScalarType type, bool saturates) {
  const at::Tensor wide = x.to(at::kFloat);
  const double largest = largest_of(type);
  if (saturates) return at::clamp(wide, -largest, largest).to(type);
  if (type != at::kFloat8_e4m3fn) return wide.to(type);
  // Some versions of torch saturate; numbers above this would round to a value beyond the largest.
  constexpr double kOverflows = 464;
  return wide.masked_fill(wide.abs() > kOverflows, std::numeric_limits<float>::quiet_NaN())
      .to(type);
}

at::Tensor quantized(const at::Tensor& x, const at::Tensor& zero, at::ScalarType type,
                     bool saturates) {
  if (is_float8(type)) return to_float8(zero.defined() ? x + zero : x, type, saturates);
  const auto [least, largest] = range_of(type);
  at::Tensor y = at::round(x);
  if (zero.defined()) y = y + zero;
  return at::where(y > least, y.clamp_max(largest), least).to(type);
}

}  // namespace d5::torch

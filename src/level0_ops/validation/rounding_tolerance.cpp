// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/rounding_tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace d5::detail {

double spacing_of(DType dtype) {
  return std::ldexp(1.0, dtype == DType::bfloat16 ? -7 : dtype == DType::float16 ? -10 : -23);
}

Cost summing_cost(Cost cost, const OperatorCase& one) {
  if (one.node.op_type != "CumSum" || one.inputs.empty() || !one.inputs[0].is_tensor()) return cost;
  const Tensor& summed = one.inputs[0].tensor();
  std::int64_t longest = 1;
  for (const std::int64_t size : summed.shape().dims()) longest = std::max(longest, size);
  cost.flop = 2 * double(summed.elements()) * double(longest);
  return cost;
}

ForwardTolerance rounding_tolerance(const Cost& cost, std::int64_t elements, DType dtype) {
  const double spacing = spacing_of(dtype);
  // A product and a sum count as two operations.
  const double k = cost.flop / 2 / double(std::max<std::int64_t>(elements, 1));
  ForwardTolerance result;
  result.relative = std::max(result.relative, 4 * spacing);
  result.absolute = std::max({result.absolute, 4 * spacing, 2 * k * spacing_of(DType::float32)});
  return result;
}

}  // namespace d5::detail

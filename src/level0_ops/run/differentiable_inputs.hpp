// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator.hpp"

namespace d5::detail {

/// The differentiable inputs of `one`, in order: those that `op` names, if floating-point.
[[nodiscard]] inline std::vector<std::size_t> differentiable_inputs(const OperatorCase& one,
                                                                    const Operator& op) {
  std::vector<std::size_t> inputs;
  const Places places = op.gradients();
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const Value& input = one.inputs[i];
    if (!places.contains(i) || !input.is_tensor()) continue;
    if (is_floating_point(input.tensor().dtype())) inputs.push_back(i);
  }
  return inputs;
}

}  // namespace d5::detail

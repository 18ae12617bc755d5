// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "torch_kernel.hpp"

namespace d5::torch {

/// `computes` restricted to floats, for functions that convert integers to floats in torch.
[[nodiscard]] inline Support computes_floats(const PlanContext& context) {
  if (is_floating_point(context.dtype(0))) return computes(context);
  return {context.node().op_type + " on " + std::string(name_of(context.dtype(0)))};
}

}  // namespace d5::torch

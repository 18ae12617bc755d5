// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "torch_kernel.hpp"

namespace d5::torch {

/// `computes`, on floats alone: for functions whose result torch makes a float of an integer.
[[nodiscard]] inline Support computes_floats(const PlanContext& context) {
  if (is_floating_point(context.dtype(0))) return computes(context);
  return {context.node().op_type + " on " + std::string(name_of(context.dtype(0)))};
}

}  // namespace d5::torch

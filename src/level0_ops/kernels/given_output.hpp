// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/level0_ops/operator/op_context.hpp"

namespace d5::detail {

/// Makes output `i` what a graph gave: a copy in the memory that was planned for it, or the value
/// itself; without an allocation where it was of the same kind and rank before.
inline void give_output(OpContext& context, std::size_t i, const Value& value) {
  if (context.planned_outputs.contains(i)) {
    context.output(i).copy_from(value.tensor());
  } else {
    *context.outputs[i] = value;
  }
}

}  // namespace d5::detail

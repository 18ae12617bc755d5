// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/level0_ops/operator/op_context.hpp"

namespace d5::detail {

/// Sets output `i` to a graph's result: a copy in the planned memory, or the value itself.
/// Allocates nothing if kind and rank are the same as before.
inline void give_output(OpContext& context, std::size_t i, const Value& value) {
  if (context.planned_outputs.contains(i)) {
    context.output(i).copy_from(value.tensor());
  } else {
    *context.outputs[i] = value;
  }
}

}  // namespace d5::detail

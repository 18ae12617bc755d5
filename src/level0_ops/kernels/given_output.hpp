// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/level0_ops/op_context.hpp"

namespace d5::detail {

/// Makes output `i` share what `value` is, as `OpContext::set_output`; without an allocation where
/// it was of the same kind and rank before.
inline void give_output(OpContext& context, std::size_t i, const Value& value) {
  if (context.planned_outputs.contains(i)) {
    context.set_output(i, value);  // which refuses
  } else {
    *context.outputs[i] = value;
  }
}

}  // namespace d5::detail

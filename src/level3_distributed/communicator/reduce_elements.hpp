// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level3_distributed/communicator/communication_call.hpp"

namespace d5::detail {

/// into = into (+, max, min) other, element by element, in the type itself; float16 and bfloat16 in
/// float32. Throws: TypeError for types that are not numeric.
void reduce_elements(DType dtype, void* into, const void* other, std::int64_t count,
                     Reduction reduction);
/// Throws also: TypeError, ShapeError if the two differ.
void reduce_elements(Tensor& into, const Tensor& other, Reduction reduction);

}  // namespace d5::detail

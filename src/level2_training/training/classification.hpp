// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/accuracy.hpp"

namespace d5::detail {

/// The value called `name` among a network's outputs or a batch's fields.
/// Throws: NotFound, listing what there is.
[[nodiscard]] const Tensor& named(const ValueMap& values, const std::string& name,
                                  const char* kind);

}  // namespace d5::detail

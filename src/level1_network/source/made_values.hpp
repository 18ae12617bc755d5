// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "d5/core/tensor/tensor.hpp"
#include "level1_network/source/input_drawing.hpp"
#include "level1_network/source/value_ranges.hpp"

namespace d5 {

/// Random values for the input `name`, the same for the same name, type and seed: integers from
/// `range`, otherwise normal reals and integers from [0, 10), unless `drawing` says otherwise.
/// Throws: Unsupported for a non-numeric element type.
[[nodiscard]] Tensor made_value(const std::string& name, const TensorDesc& desc,
                                const std::optional<ValueRange>& range, std::uint64_t seed,
                                const InputDrawing& drawing = {});

}  // namespace d5

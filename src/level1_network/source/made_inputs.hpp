// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"
#include "level1_network/source/input_drawing.hpp"

namespace d5 {

/// Throws: as `input_descs`; an unused size counts as a typing error.
void expect_taken(const Network& network, const OpenSizes& sizes);

/// Random values for inputs that are not `given`, with sizes in effect, in a range that the network
/// accepts. An unread input that cannot be made is left out.
/// Throws: Unsupported for any other that cannot be made.
[[nodiscard]] ValueMap made_inputs(const Network& network, const OpenSizes& sizes,
                                   const ValueMap& given, std::uint64_t seed,
                                   const InputDrawing& drawing = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// A copy of a network with all floats in float64: inputs, parameters, constants, attributes, and
/// results of casts. Its constants are never updated.
[[nodiscard]] Network in_float64(const Network& network);

/// The same numbers; floats in float64, everything else shared.
[[nodiscard]] ValueMap in_float64(const ValueMap& values);

}  // namespace d5

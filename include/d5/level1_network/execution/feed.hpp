// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Checks what is fed against what the network declares; a named dimension must be the same number
/// wherever the name stands. An input that nothing reads may be left out. Every executor calls it,
/// for inputs that differ from the last run's. Throws: NotFound, TypeError, ShapeError.
void check_fed(const Network& network, const ValueMap& fed);

}  // namespace d5

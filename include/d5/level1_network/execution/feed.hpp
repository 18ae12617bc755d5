// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Checks the inputs against the types and shapes that the network declares. A named dimension must
/// have the same size in all inputs. An input that nothing reads may be missing. Executors call it
/// whenever the inputs differ from the last run's. Throws: NotFound, TypeError, ShapeError.
void check_fed(const Network& network, const ValueMap& fed);

}  // namespace d5

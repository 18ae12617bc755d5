// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// `network` with long sums along one axis (ReduceSum, ReduceMean) added up one number after the
/// other, in their own type, as engines do that run along the other axes; the reference adds in
/// parts. Nothing where there are none. `fed` tells the sizes; a sum whose sizes only running tells
/// is left, and so are those within products.
[[nodiscard]] std::optional<Network> with_other_sums(const Network& network, const ValueMap& fed);

}  // namespace d5

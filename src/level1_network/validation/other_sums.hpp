// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// `network` with long sums (ReduceSum, ReduceMean, along any axes) accumulated one number after
/// another in their own type, as engines do that run along the other axes; the reference adds in
/// parts. Empty if there are none. `fed` determines the sizes. Sums with dynamic sizes, and those
/// within products, are left as they are.
[[nodiscard]] std::optional<Network> with_other_sums(const Network& network, const ValueMap& fed);

}  // namespace d5

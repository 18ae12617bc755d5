// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// Number of parameter elements that differ in any bit between two networks of the same structure.
[[nodiscard]] std::int64_t differing_elements(Network& a, Network& b);

}  // namespace d5::detail

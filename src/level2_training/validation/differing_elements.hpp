// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// How many elements of the parameters of two like networks differ in any bit.
[[nodiscard]] std::int64_t differing_elements(Network& a, Network& b);

}  // namespace d5::detail

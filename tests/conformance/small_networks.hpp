// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::conformance {

/// A network with output "y" and "loss", of one kind of arithmetic, with weights of a seed.
struct SmallNetwork {
  std::string name;
  Network (*make)(std::uint64_t seed);
};

/// Ten, from one wide product to forty layers: products, convolutions, pools, normalisations,
/// attention, recurrence, and sums that cancel.
[[nodiscard]] const std::vector<SmallNetwork>& small_networks();

}  // namespace d5::conformance

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/prediction/simulated_network.hpp"

namespace d5::detail {

/// Of ranks whose messages go through one medium, such as a machine's memory: each rank sends one
/// message after the other, and those of different ranks share the medium, one of which takes
/// `medium_share` of it. A message that is alone takes latency + bytes / bandwidth.
[[nodiscard]] std::shared_ptr<SimulatedNetwork> make_shared_medium(
    const NetworkDescription& network, int ranks);

}  // namespace d5::detail

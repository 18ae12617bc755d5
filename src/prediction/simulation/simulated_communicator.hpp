// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

class SimulatedWorld;

/// The world communicator of one rank.
[[nodiscard]] std::shared_ptr<Communicator> make_simulated_communicator(
    const std::shared_ptr<SimulatedWorld>& world, int rank);

}  // namespace d5::detail

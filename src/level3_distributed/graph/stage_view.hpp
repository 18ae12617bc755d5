// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/level3_distributed/graph/partition.hpp"

namespace d5::detail {

/// The stage that writes each output of a network.
using StageOfOutputs = std::map<std::string, int>;

/// The view of a network for the optimizer of one stage: inputs and outputs of the whole network,
/// but nodes, parameters and constants of the stage. Two placeholder nodes represent earlier and
/// later stages; they never run. The view shares the memory of the stage, whose parameters are laid
/// out again for that.
[[nodiscard]] Network stage_view(const Network& whole, NetworkPart& part, int stage,
                                 const StageOfOutputs& outputs);

}  // namespace d5::detail

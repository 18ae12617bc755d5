// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/level3_distributed/graph/partition.hpp"

namespace d5::detail {

/// Which stage writes each output of a network.
using StageOfOutputs = std::map<std::string, int>;

/// The network as who trains one stage of it sees it: inputs and outputs are those of the whole
/// one, nodes, parameters and constants the stage's. Two nodes stand for what earlier and later
/// stages compute; nobody runs them. What it holds lies in the same memory as the stage's, whose
/// parameters are laid out anew for that.
[[nodiscard]] Network stage_view(const Network& whole, NetworkPart& part, int stage,
                                 const StageOfOutputs& outputs);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Why nobody judged what transforms made of a network: it is too large, draws random numbers, or
/// no inputs could be drawn for it. Empty: all was judged (`apply_transforms`).
///
/// It stays with the network, and with files of it, in its metadata as "d5.doubt"; records of runs
/// repeat it.
[[nodiscard]] std::string doubt_of(const Network& network);
void add_doubt(Network& network, const std::string& doubt);
/// For callers that hold the network against the one before.
void forget_doubt(Network& network);

}  // namespace d5

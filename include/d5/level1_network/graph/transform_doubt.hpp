// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Reason why the result of transforms was not checked: the network is too large, draws random
/// numbers, or has no valid random inputs. Empty if everything was checked (`apply_transforms`).
///
/// It stays with the network, is saved in files as metadata "d5.doubt", and is repeated in records
/// of runs.
[[nodiscard]] std::string doubt_of(const Network& network);
void add_doubt(Network& network, const std::string& doubt);
/// Removes the doubt, for callers that compare the network with the original themselves.
void forget_doubt(Network& network);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/network_mode.hpp"

namespace d5 {

/// The network that inference in `mode` runs after the transforms fold-batch-norm and
/// fuse-activation. Unchanged values are shared. Empty if they change nothing or are refused, and
/// if runs overwrite constants.
[[nodiscard]] std::optional<Network> fused_network(const Network& network, NetworkMode mode);

}  // namespace d5

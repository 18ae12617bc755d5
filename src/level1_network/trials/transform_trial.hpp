// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/transform.hpp"

namespace d5::detail {

/// Why a network is not run to judge what a transform makes of it: it is too large, or talks to
/// other ranks. Empty: it is. `wishes` as in `apply_transforms`.
[[nodiscard]] std::string trial_obstacle(const Network& network, Keeps keeps,
                                         const Settings& wishes);

/// Runs the network before and after a transform on the same drawn inputs, in the reference: the
/// outputs, and where the transform keeps gradients and there is an output "loss", the parameters'
/// gradients. Each is held to what rounding can do to the network, of a transform that rounds to
/// the one after it.
/// Returns why nothing was compared, empty where all outputs were. Throws: ContractError with the
/// first node that differs.
[[nodiscard]] std::string judge_transform(const std::string& transform, Keeps keeps,
                                          const Network& before, const Network& after,
                                          const Settings& wishes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/transform.hpp"

namespace d5::detail {

/// Reason why a network cannot be run to check a transform: it is too large, or communicates with
/// other ranks. Empty if it can. `wishes` as in `apply_transforms`.
[[nodiscard]] std::string trial_obstacle(const Network& network, Keeps keeps,
                                         const Settings& wishes);

/// Runs the network before and after a transform on the same random inputs, in the reference.
/// Compares the outputs, and the parameters' gradients if the transform keeps them and there is an
/// output "loss". The bound is the rounding error of the network; if the transform rounds, of the
/// new one. Returns the reason why nothing was compared; empty if all outputs were. Throws:
/// ContractError with the first node that differs.
[[nodiscard]] std::string judge_transform(const std::string& transform, Keeps keeps,
                                          const Network& before, const Network& after,
                                          const Settings& wishes);

}  // namespace d5::detail

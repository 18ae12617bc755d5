// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/losses/loss.hpp"

namespace d5::detail {

/// The target in the type and the shape of what it is compared with: {N} beside {N, 1} would
/// otherwise be broadcast to {N, N}. Another number of elements fails when it runs. Returns the
/// tensor's name.
[[nodiscard]] std::string fitted_target(Network& network, const LossEnds& ends);

/// Ends in the mean of all elements of `tensor`, a scalar called `loss`.
void end_in_mean(Network& network, const std::string& tensor, const std::string& loss);

}  // namespace d5::detail

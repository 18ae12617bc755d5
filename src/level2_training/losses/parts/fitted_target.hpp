// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/losses/loss.hpp"

namespace d5::detail {

/// Converts the target to the type and shape of the output: {N} and {N, 1} would otherwise be
/// broadcast to {N, N}. A different number of elements fails at run time. Returns the tensor's
/// name.
[[nodiscard]] std::string fitted_target(Network& network, const LossEnds& ends);

/// Appends the mean of all elements of `tensor` as the scalar `loss`.
void end_in_mean(Network& network, const std::string& tensor, const std::string& loss);

}  // namespace d5::detail

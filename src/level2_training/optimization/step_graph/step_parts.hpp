// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/level1_network/network.hpp"

namespace d5::detail {

/// A step in two networks that share its values: what makes its outputs, which an executor goes
/// back through as the optimizer's does, and the rest, which is given the gradients. As one graph
/// it would run forward once more, within the Gradient node.
struct StepParts {
  Network forward, update;
  std::string loss;
  std::vector<std::string> variables, gradients;  ///< the loss by a variable is a gradient
  std::vector<std::string> handed;  ///< outputs of `forward` that `update` has as inputs
};

/// Nothing for a step of another form than `StepGraph` makes.
[[nodiscard]] std::optional<StepParts> parts_of(const Network& step);

}  // namespace d5::detail

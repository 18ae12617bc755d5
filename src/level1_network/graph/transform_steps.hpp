// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level1_network/graph/transform.hpp"

namespace d5::detail {

/// Makes the transforms of a chain; `wishes` as in `apply_transforms`. Throws: NotFound,
/// ValueError; Unsupported for a network with a Gradient node.
[[nodiscard]] std::vector<std::shared_ptr<Transform>> transform_steps(const TransformChain& chain,
                                                                      const Settings& wishes,
                                                                      const Network& network);

/// `apply_transforms` without the check of outputs, for callers that check them.
std::vector<AppliedTransform> apply_unjudged(Network& network, const TransformChain& chain,
                                             const Settings& wishes = {});

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level1_network/graph/transform.hpp"

namespace d5::detail {

/// The transforms of a chain, made; of `wishes` as in `apply_transforms`. Throws: NotFound,
/// ValueError; Unsupported for a network with a node Gradient.
[[nodiscard]] std::vector<std::shared_ptr<Transform>> transform_steps(const TransformChain& chain,
                                                                      const Settings& wishes,
                                                                      const Network& network);

/// `apply_transforms` for callers that judge what the network answers themselves.
std::vector<AppliedTransform> apply_unjudged(Network& network, const TransformChain& chain,
                                             const Settings& wishes = {});

}  // namespace d5::detail

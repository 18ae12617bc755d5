// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

/// Throws: ValueError for a size below 1.
void expect_positive(const OpenSizes& sizes);

/// Returns `sizes` if they fit the network. Otherwise each open dimension that was not given by
/// name gets the least size that d5 found (a window may be larger than a picture, or a half not an
/// integer); the batch stays if possible. An input of any rank gets the first usual rank that fits,
/// as sizes "x:0", "x:1"; if none fits it stays unknown.
///
/// Sizes are checked by the nodes' own rules, up to 32768 and inputs up to 256 MiB; nothing is run.
/// Throws: ValueError for a size below 1; ShapeError with the node that rejects them, and sizes
/// that would fit.
[[nodiscard]] OpenSizes fitting_sizes(const Network& network, const OpenSizes& sizes);

}  // namespace d5

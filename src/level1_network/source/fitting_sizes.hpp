// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

/// `sizes`, or where these do not go through the network (a window that is larger than a picture,
/// halves that are no whole numbers) with the least that d5 found of each open dimension for which
/// none was asked by name; the batch stays, where it can. Inputs of any rank have the first of
/// usual ranks that goes through, as sizes "x:0", "x:1"; where none does they stay unknown.
///
/// Nodes' own rules tell, for sizes up to 32768 and inputs up to 256 MiB; nothing is run.
/// Throws: ShapeError with the node that refuses, and what sizes it would take.
[[nodiscard]] OpenSizes fitting_sizes(const Network& network, const OpenSizes& sizes);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"

namespace d5 {

/// A topology of decentralized training: the mixing matrix for a number of ranks. Throws:
/// ValueError for a number of ranks that the topology cannot have.
using TopologyEntry = Entry<MixingMatrix(int ranks)>;

/// All topologies by name.
///
///     const MixingMatrix ring = topologies().at("ring").make(4);
[[nodiscard]] Registry<TopologyEntry>& topologies();

}  // namespace d5

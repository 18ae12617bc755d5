// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"

namespace d5 {

/// Who mixes with whom, of so many ranks. Throws: ValueError where it cannot have that many.
using TopologyEntry = Entry<MixingMatrix(int ranks)>;

/// All by name.
///
///     const MixingMatrix ring = topologies().at("ring").make(4);
[[nodiscard]] Registry<TopologyEntry>& topologies();

}  // namespace d5

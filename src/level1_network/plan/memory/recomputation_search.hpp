// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Marks those of `steps` as `recomputed` that bring the plan below the executor's memory limit,
/// with as little work as it finds. If nothing does, it marks those with the least need; if the
/// plan is below the limit already, none.
///
/// It tries the steps that are cheapest for their output size, and segments of many lengths of
/// which only the values that cross their ends are kept. Then it keeps again what fits, the most
/// expensive first. Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016),
/// for the segments.
void search_recomputation(Draft& draft, std::span<Draft::Step* const> steps);

}  // namespace d5

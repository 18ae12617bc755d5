// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Marks those of `steps` as `recomputed` that bring the plan below the memory limit of the
/// executor, at as little work as it finds; where nothing does, those with which the plan needs
/// least. None where the plan is below it as it is.
///
/// It tries the cheapest steps for what they write, and segments of which only what crosses their
/// ends is kept, of many lengths; and then keeps again what there is room for, the most expensive
/// first. Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016), for the
/// segments.
void search_recomputation(Draft& draft, std::span<Draft::Step* const> steps);

}  // namespace d5

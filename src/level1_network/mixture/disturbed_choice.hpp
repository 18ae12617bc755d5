// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/mixture/kept_selection.hpp"
#include "level1_network/mixture/measured_plan.hpp"

namespace d5 {

/// Cached choices that were measured beside other work, which kept threads from running, may be
/// bad. Such a choice is used while that work goes on, and measured again once it is over; after
/// two times it stays.
///
/// Returns the result of `kept_selection`; `chosen` is empty if it must be measured again. A note
/// describes the disturbance. If the state of the machine matters, the call takes 0.15 s to observe
/// it.
[[nodiscard]] KeptSelection standing_selection(const SelectionPurpose& purpose,
                                               const SelectionOptions& options);

/// Caches a new measurement in place of `before`, with the load of other work during it.
void keep_measured(const SelectionPurpose& purpose, const KeptSelection& before, double others,
                   KeptSelection& found);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/mixture/kept_selection.hpp"
#include "level1_network/mixture/measured_plan.hpp"

namespace d5 {

/// A choice that was made beside other work, which kept threads of those that were measured from
/// running, may be a bad one. It holds while that work goes on, and is made again once it is over:
/// twice, then it stays.
///
/// What `kept_selection` has; `chosen` is empty where it is to be made again. A note says how it
/// was disturbed. Takes 0.15 s, in which it looks at the machine, where that decides.
[[nodiscard]] KeptSelection standing_selection(const SelectionPurpose& purpose,
                                               const SelectionOptions& options);

/// Keeps what was measured in place of `before`, while other work kept so many processors busy.
void keep_measured(const SelectionPurpose& purpose, const KeptSelection& before, double others,
                   KeptSelection& found);

}  // namespace d5

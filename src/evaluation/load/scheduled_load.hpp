// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/arrival_stream.hpp"
#include "d5/evaluation/scenario.hpp"

namespace d5::detail {

/// Asks at the stream's moments, whether the system keeps up or not: latency counts from them.
/// Throws: as `Scenario::run`.
[[nodiscard]] ScenarioResult ask_on_schedule(SystemUnderTest& system,
                                             const ScenarioOptions& options,
                                             ArrivalStream& arrivals);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// Makes the system and runs the scenario in a process of its own, which is ended at the time
/// limit: a system that crashes or hangs, and LoadGen, which cannot be stopped once it runs, give a
/// failed result, with the reason.
///
///     auto result = run_isolated(make_system, {"server", {{"rate", 100}}}, options,
///                                {.most_seconds = 700});
///
/// The process is a fork of this one, as in `isolated`: start everything that runs threads, such as
/// a framework, inside `make_system`. Records and stored answers come back. Throws: what `isolated`
/// throws; NotFound, ValueError for a scenario that cannot be made.
[[nodiscard]] ScenarioResult run_isolated(
    const std::function<std::unique_ptr<SystemUnderTest>()>& make_system,
    const EntryChoice& scenario, const ScenarioOptions& options, const Isolation& isolation);

}  // namespace d5

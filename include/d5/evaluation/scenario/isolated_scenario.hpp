// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// Makes the system and asks it in a process of its own, which is ended when its time is over: a
/// system that crashes, or never returns, and LoadGen, which cannot be stopped once it runs, become
/// a result that is failed, with the reason.
///
///     auto result = run_isolated(make_system, {"server", {{"rate", 100}}}, options,
///                                {.most_seconds = 700});
///
/// The process is a fork of this one, as `isolated` says: whatever runs threads, such as a
/// framework, is begun inside `make_system`, not before. Records and kept answers come back.
/// Throws: what `isolated` throws; NotFound, ValueError for a scenario that cannot be made.
[[nodiscard]] ScenarioResult run_isolated(
    const std::function<std::unique_ptr<SystemUnderTest>()>& make_system,
    const EntryChoice& scenario, const ScenarioOptions& options, const Isolation& isolation);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/level3_distributed/collectives/collective_plan.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5 {

/// Simulates the rounds of a collective's plan on every rank, without running ranks: millions of
/// messages a second. The virtual time is that of `run_simulated` with ranks that start the plan at
/// 0 and wait for it.
///
///     const auto ring = all_reduces().at("ring").make();
///     const auto& planned = dynamic_cast<const PlannedAllReduce&>(*ring);
///     simulate_rounds(4096, load_cluster_description("ethernet-10g"), [&](int rank) {
///       return planned.rounds({.rank = rank, .ranks = 4096, .elements = 25'000'000});
///     }, 4).seconds;
///
/// Left out: the time of polls (`look`), sums and copies; progress is the same by either rule.
/// Throws: as `run_simulated`; CommunicationError if the rounds of some ranks do not match.
[[nodiscard]] SimulationReport simulate_rounds(
    int ranks, const ClusterDescription& cluster,
    const std::function<PlannedRounds(int rank)>& rounds_of_rank, std::int64_t element_bytes,
    const SimulationOptions& options = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/networks/network_description.hpp"

namespace d5 {

/// What a rule costs in closed form, on a network that nobody shares: of each algorithm the rounds
/// of messages, one after the other, that the busiest rank takes part in. A message of m bytes
/// takes latency + 2 overhead + m / bandwidth.
///
/// Of `bytes` S of each rank's data among n ranks, with r = ceil(log2 n), in messages and bytes:
///
/// | kind | algorithm | messages | bytes |
/// | --- | --- | --- | --- |
/// | all_reduce, negotiation | ring, segmented_ring | 2(n-1) | 2(n-1)/n S |
/// | | rabenseifner | 2r | 2(n-1)/n S |
/// | | recursive_doubling | r, 2 more where n is no power of 2 | S each |
/// | | binomial_tree, mpi (Open MPI's, started in place) | 2r | S each |
/// | reduce_scatter | ring, pairwise | n-1 | (n-1)/n S |
/// | all_gather | ring | n-1 | S each |
/// | | recursive_doubling, bruck | r | (n-1) S |
/// | | mpi (Open MPI's, started) | 1 | (n-1) S |
/// | broadcast | binomial | r | S each |
/// | push, pull | any | 1 | n S, through the server's port |
/// | send, receive | any | 1 | S |
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (2005).
/// Throws: NotFound, with the nearest, for an algorithm of which it knows no closed form.
[[nodiscard]] double closed_seconds(const std::string& kind, const CostRule& rule,
                                    const NetworkDescription& network);
/// Of operations that are copied between a device and its host: bytes / copy bandwidth, 0 where the
/// network has none.
[[nodiscard]] double copy_seconds(double bytes, const NetworkDescription& network);
/// Both: for `price`.
[[nodiscard]] CostModel closed_cost(const NetworkDescription& network);

}  // namespace d5

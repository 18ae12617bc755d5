// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/networks/cluster_description.hpp"

namespace d5 {

/// Cost of a rule in closed form, on an otherwise idle network: the sequential messages of the
/// busiest rank. A message of m bytes takes latency + 2 overhead + m / bandwidth.
///
/// Number of messages and bytes, for n ranks with S = `bytes` of data each, and r = ceil(log2 n):
///
/// | kind | algorithm | messages | bytes |
/// | --- | --- | --- | --- |
/// | all_reduce, negotiation | ring, segmented_ring | 2(n-1) | 2(n-1)/n S |
/// | | rabenseifner | 2r | 2(n-1)/n S |
/// | | recursive_doubling | r, 2 more if n is not a power of 2 | S each |
/// | | binomial_tree, mpi (Open MPI's, started in place) | 2r | S each |
/// | reduce_scatter | ring, pairwise | n-1 | (n-1)/n S |
/// | all_gather | ring | n-1 | S each |
/// | | recursive_doubling, bruck | r | (n-1) S |
/// | | mpi (Open MPI's, started) | 1 | (n-1) S |
/// | broadcast, reduce | binomial | r | S each |
/// | gather, scatter | binomial | r | (n-1) S |
/// | all_to_all | pairwise | n-1 | (n-1)/n S |
/// | barrier | dissemination | r | 0 |
/// | push, pull | any | 1 | n S, through the server's port |
/// | send, receive | any | 1 | S |
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (2005).
/// Throws: NotFound, with the nearest name, for an algorithm without a closed form.
[[nodiscard]] double closed_seconds(const std::string& kind, const CostRule& rule,
                                    const ClusterDescription& cluster);
/// Time of a copy between device and host: bytes / copy bandwidth; 0 if the cluster has no copy
/// bandwidth.
[[nodiscard]] double copy_seconds(double bytes, const ClusterDescription& cluster);
/// The cost model for `price` from both functions.
[[nodiscard]] CostModel closed_cost(const ClusterDescription& cluster);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace d5::detail {

/// The algorithm that Open MPI 4.1 chooses by default for a blocking collective, by its own names.
/// `bytes` is the size of one rank's data; for all-gather and reduce-scatter of its part.
///
/// Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of Open MPI 4.1, for commutative
/// reductions; reduce-scatter has equal parts (MPI_Reduce_scatter_block).
[[nodiscard]] std::string_view open_mpi_all_reduce(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_broadcast(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_all_gather(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_reduce_scatter(int ranks, std::int64_t bytes);

}  // namespace d5::detail

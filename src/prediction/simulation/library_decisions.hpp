// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace d5::detail {

/// Which algorithm Open MPI 4.1 chooses for a blocking collective where nobody tunes it, by its own
/// names. `bytes` are those of one rank's data: of all-gather and reduce-scatter its part of it.
///
/// Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of Open MPI 4.1, of reductions that
/// commute; reduce-scatter is that of equal parts (MPI_Reduce_scatter_block).
[[nodiscard]] std::string_view open_mpi_all_reduce(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_broadcast(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_all_gather(int ranks, std::int64_t bytes);
[[nodiscard]] std::string_view open_mpi_reduce_scatter(int ranks, std::int64_t bytes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>

#include "recorder.hpp"

namespace d5::mpi {

[[nodiscard]] std::int64_t bytes(int count, MPI_Datatype type);

[[nodiscard]] Moved sent(int to, int count, MPI_Datatype type);
[[nodiscard]] Moved received(const MPI_Status& status);
/// A receive; the status gives its size when it completes.
[[nodiscard]] Moved to_be_received(int from);
/// The caller's status, or `own` if the caller ignores it.
[[nodiscard]] inline MPI_Status* told(MPI_Status* asked, MPI_Status& own) {
  return asked == MPI_STATUS_IGNORE ? &own : asked;
}

/// Traffic of a collective, counted between ranks of one group; a single rank sends nothing.
/// `moved()` is called only if something counts.
template <class F>
[[nodiscard]] Moved collective(const Group& group, const F& moved) {
  if (group.size == 1 || group.joins_two_groups) return {};
  return moved();
}
/// Sum of the parts for other ranks; there is a part for each rank.
[[nodiscard]] std::int64_t of_others(const Group& group, const int* counts, MPI_Datatype type);
[[nodiscard]] std::int64_t of_others(const Group& group, const int* counts,
                                     const MPI_Datatype* types);

}  // namespace d5::mpi

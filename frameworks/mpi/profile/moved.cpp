// SPDX-License-Identifier: Apache-2.0
#include "moved.hpp"

#include <numeric>

namespace d5::mpi {

std::int64_t bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::int64_t{size} * count;
}

Moved sent(int to, int count, MPI_Datatype type) {
  if (to == MPI_PROC_NULL) return {};
  return {to, bytes(count, type), 0};
}
Moved received(const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return {};
  int count = 0;
  PMPI_Get_count(&status, MPI_BYTE, &count);
  return {status.MPI_SOURCE, 0, count};
}
Moved to_be_received(int from) {
  if (from == MPI_PROC_NULL) return {};
  return {from, 0, -1};
}

std::int64_t of_others(const Group& group, const int* counts, MPI_Datatype type) {
  const auto all = std::accumulate(counts, counts + group.size, std::int64_t{0});
  return (all - counts[group.rank]) * bytes(1, type);
}
std::int64_t of_others(const Group& group, const int* counts, const MPI_Datatype* types) {
  std::int64_t all = 0;
  for (int r = 0; r < group.size; ++r) {
    if (r != group.rank) all += bytes(counts[r], types[r]);
  }
  return all;
}

}  // namespace d5::mpi

// SPDX-License-Identifier: Apache-2.0
// Collectives with a part for each neighbour in a communicator's topology. Messages to the rank
// itself, or across an end of a grid, are not counted.
#include <vector>

#include "recorded_call.hpp"

namespace d5::mpi {
namespace {

/// `bytes_of(i)` gives the bytes of neighbour i's part.
template <class BytesOf>
std::int64_t sum(const Group& group, const std::vector<int>& neighbours, const BytesOf& bytes_of) {
  std::int64_t all = 0;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const bool other = neighbours[i] != MPI_PROC_NULL && neighbours[i] != group.rank;
    if (other) all += bytes_of(i);
  }
  return all;
}

template <class SentTo, class ReceivedFrom>
Moved among_neighbours(const Group& group, const SentTo& sent_to,
                       const ReceivedFrom& received_from) {
  return {MPI_PROC_NULL, sum(group, group.to, sent_to), sum(group, group.from, received_from)};
}

/// Equal counts of one type for all; counts per rank; counts and types per rank.
auto equal(int count, MPI_Datatype type) {
  return [=, part = bytes(count, type)](std::size_t) { return part; };
}
auto differing(const int* counts, MPI_Datatype type) {
  return [=](std::size_t i) { return bytes(counts[i], type); };
}
auto differing(const int* counts, const MPI_Datatype* types) {
  return [=](std::size_t i) { return bytes(counts[i], types[i]); };
}

}  // namespace
}  // namespace d5::mpi

#define D5_EQUAL_NEIGHBOURS(NAME, STARTED)                                               \
  D5_BOTH(NAME, STARTED,                                                                 \
          (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, \
           MPI_Datatype out_type, MPI_Comm comm),                                        \
          (in, in_count, in_type, out, out_count, out_type, comm), Ranks{comm},          \
          among_neighbours(group, equal(in_count, in_type), equal(out_count, out_type)))

D5_EQUAL_NEIGHBOURS(Neighbor_allgather, Ineighbor_allgather)
D5_EQUAL_NEIGHBOURS(Neighbor_alltoall, Ineighbor_alltoall)

D5_BOTH(Neighbor_allgatherv, Ineighbor_allgatherv,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
         const int* begins, MPI_Datatype type, MPI_Comm comm),
        (in, in_count, in_type, out, counts, begins, type, comm), Ranks{comm},
        among_neighbours(group, equal(in_count, in_type), differing(counts, type)))
D5_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv,
        (const void* in, const int* in_counts, const int* in_begins, MPI_Datatype in_type,
         void* out, const int* counts, const int* begins, MPI_Datatype type, MPI_Comm comm),
        (in, in_counts, in_begins, in_type, out, counts, begins, type, comm), Ranks{comm},
        among_neighbours(group, differing(in_counts, in_type), differing(counts, type)))
D5_BOTH(Neighbor_alltoallw, Ineighbor_alltoallw,
        (const void* in, const int* in_counts, const MPI_Aint* in_begins,
         const MPI_Datatype* in_types, void* out, const int* counts, const MPI_Aint* begins,
         const MPI_Datatype* types, MPI_Comm comm),
        (in, in_counts, in_begins, in_types, out, counts, begins, types, comm), Ranks{comm},
        among_neighbours(group, differing(in_counts, in_types), differing(counts, types)))

// SPDX-License-Identifier: Apache-2.0
// Collectives that send the same to all, and reductions.
#include "recorded_call.hpp"

namespace d5::mpi {
namespace {

Moved from_root(const Group& group, int root, int count, MPI_Datatype type) {
  return collective(group, [&] {
    const std::int64_t all = bytes(count, type);
    return group.rank == root ? Moved{MPI_PROC_NULL, (group.size - 1) * all, 0}
                              : Moved{MPI_PROC_NULL, 0, all};
  });
}
Moved to_root(const Group& group, int root, int count, MPI_Datatype type) {
  return collective(group, [&] {
    const std::int64_t all = bytes(count, type);
    return group.rank == root ? Moved{MPI_PROC_NULL, 0, (group.size - 1) * all}
                              : Moved{MPI_PROC_NULL, all, 0};
  });
}
Moved both_ways(const Group& group, int count, MPI_Datatype type) {
  return collective(group, [&] {
    const std::int64_t moved = 2 * (group.size - 1) * bytes(count, type) / group.size;
    return Moved{MPI_PROC_NULL, moved, moved};
  });
}

}  // namespace
}  // namespace d5::mpi

D5_BOTH(Barrier, Ibarrier, (MPI_Comm comm), (comm), Ranks{comm}, Moved{})

D5_BOTH(Bcast, Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (data, count, type, root, comm), Ranks{comm}, from_root(group, root, count, type))

D5_BOTH(Reduce, Ireduce,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        (in, out, count, type, op, root, comm), Ranks{comm}, to_root(group, root, count, type))

#define D5_REDUCTION(NAME, STARTED)                                                            \
  D5_BOTH(NAME, STARTED,                                                                       \
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
          (in, out, count, type, op, comm), Ranks{comm}, both_ways(group, count, type))

D5_REDUCTION(Allreduce, Iallreduce)
D5_REDUCTION(Scan, Iscan)
D5_REDUCTION(Exscan, Iexscan)

D5_BOTH(Reduce_scatter, Ireduce_scatter,
        (const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, counts, type, op, comm), Ranks{comm}, collective(group, [&] {
          return Moved{MPI_PROC_NULL, of_others(group, counts, type),
                       (group.size - 1) * bytes(counts[group.rank], type)};
        }))

D5_BOTH(Reduce_scatter_block, Ireduce_scatter_block,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm), Ranks{comm}, collective(group, [&] {
          const std::int64_t others = bytes(count, type) * (group.size - 1);
          return Moved{MPI_PROC_NULL, others, others};
        }))

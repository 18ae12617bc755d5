// SPDX-License-Identifier: Apache-2.0
// Collectives with a part for each rank. Parameters that are MPI_IN_PLACE, or not read on a rank,
// give no size there.
#include "recorded_call.hpp"

namespace d5::mpi {
namespace {

/// A part that a rank sends or receives, by the call's parameters.
struct Part {
  int count;
  MPI_Datatype type;
  [[nodiscard]] std::int64_t bytes() const { return mpi::bytes(count, type); }
};
/// The parts sent to, or received from, each rank of a group.
struct Parts {
  const int* counts;
  MPI_Datatype type;
};

Moved all_gather(const Group& group, Part, Part from) {
  return collective(group, [&] {
    const std::int64_t others = from.bytes() * (group.size - 1);
    return Moved{MPI_PROC_NULL, others, others};
  });
}
Moved all_to_all(const Group& group, Part to, Part from) { return all_gather(group, to, from); }
Moved gather(const Group& group, Part to, Part from, int root) {
  return collective(group, [&] {
    return group.rank == root ? Moved{MPI_PROC_NULL, 0, from.bytes() * (group.size - 1)}
                              : Moved{MPI_PROC_NULL, to.bytes(), 0};
  });
}
Moved scatter(const Group& group, Part to, Part from, int root) {
  return collective(group, [&] {
    return group.rank == root ? Moved{MPI_PROC_NULL, to.bytes() * (group.size - 1), 0}
                              : Moved{MPI_PROC_NULL, 0, from.bytes()};
  });
}
Moved all_gather_of(const Group& group, Part, Parts from) {
  return collective(group, [&] {
    return Moved{MPI_PROC_NULL, (group.size - 1) * bytes(from.counts[group.rank], from.type),
                 of_others(group, from.counts, from.type)};
  });
}
template <class Types>
Moved all_to_all_of(const Group& group, const void* in, const int* in_counts, Types in_types,
                    const int* counts, Types types) {
  return collective(group, [&] {
    const std::int64_t got = of_others(group, counts, types);
    return Moved{MPI_PROC_NULL, in == MPI_IN_PLACE ? got : of_others(group, in_counts, in_types),
                 got};
  });
}

}  // namespace
}  // namespace d5::mpi

#define D5_EQUAL_PARTS(NAME, STARTED, MOVED)                                             \
  D5_BOTH(NAME, STARTED,                                                                 \
          (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, \
           MPI_Datatype out_type, MPI_Comm comm),                                        \
          (in, in_count, in_type, out, out_count, out_type, comm), Ranks{comm},          \
          MOVED(group, Part{in_count, in_type}, Part{out_count, out_type}))
#define D5_EQUAL_PARTS_OF_ROOT(NAME, STARTED, MOVED)                                     \
  D5_BOTH(NAME, STARTED,                                                                 \
          (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, \
           MPI_Datatype out_type, int root, MPI_Comm comm),                              \
          (in, in_count, in_type, out, out_count, out_type, root, comm), Ranks{comm},    \
          MOVED(group, Part{in_count, in_type}, Part{out_count, out_type}, root))

D5_EQUAL_PARTS(Allgather, Iallgather, all_gather)
D5_EQUAL_PARTS(Alltoall, Ialltoall, all_to_all)
D5_EQUAL_PARTS_OF_ROOT(Gather, Igather, gather)
D5_EQUAL_PARTS_OF_ROOT(Scatter, Iscatter, scatter)

D5_BOTH(Allgatherv, Iallgatherv,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
         const int* begins, MPI_Datatype type, MPI_Comm comm),
        (in, in_count, in_type, out, counts, begins, type, comm), Ranks{comm},
        all_gather_of(group, Part{in_count, in_type}, Parts{counts, type}))
D5_BOTH(Alltoallv, Ialltoallv,
        (const void* in, const int* in_counts, const int* in_begins, MPI_Datatype in_type,
         void* out, const int* counts, const int* begins, MPI_Datatype type, MPI_Comm comm),
        (in, in_counts, in_begins, in_type, out, counts, begins, type, comm), Ranks{comm},
        all_to_all_of(group, in, in_counts, in_type, counts, type))
D5_BOTH(Alltoallw, Ialltoallw,
        (const void* in, const int* in_counts, const int* in_begins, const MPI_Datatype* in_types,
         void* out, const int* counts, const int* begins, const MPI_Datatype* types, MPI_Comm comm),
        (in, in_counts, in_begins, in_types, out, counts, begins, types, comm), Ranks{comm},
        all_to_all_of(group, in, in_counts, in_types, counts, types))
D5_BOTH(Gatherv, Igatherv,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
         const int* begins, MPI_Datatype type, int root, MPI_Comm comm),
        (in, in_count, in_type, out, counts, begins, type, root, comm), Ranks{comm},
        collective(group, [&] {
          return group.rank == root ? Moved{MPI_PROC_NULL, 0, of_others(group, counts, type)}
                                    : Moved{MPI_PROC_NULL, bytes(in_count, in_type), 0};
        }))
D5_BOTH(Scatterv, Iscatterv,
        (const void* in, const int* counts, const int* begins, MPI_Datatype type, void* out,
         int out_count, MPI_Datatype out_type, int root, MPI_Comm comm),
        (in, counts, begins, type, out, out_count, out_type, root, comm), Ranks{comm},
        collective(group, [&] {
          return group.rank == root ? Moved{MPI_PROC_NULL, of_others(group, counts, type), 0}
                                    : Moved{MPI_PROC_NULL, 0, bytes(out_count, out_type)};
        }))

// SPDX-License-Identifier: Apache-2.0
// Access to other ranks' memory, counted as in `MemoryWindow`, by the rank that owns the memory;
// and synchronisation calls, in which the accesses spend their time.
#include "recorded_call.hpp"

namespace d5::mpi {
namespace {

/// Access of a rank to its own part is a call without bytes.
Moved at(const Group& group, int target, std::int64_t sent, std::int64_t received) {
  if (target == MPI_PROC_NULL) return {};
  if (target == group.rank) return {target, 0, 0};
  return {target, sent, received};
}
/// An operation that only fetches sends nothing.
std::int64_t bytes_sent(int count, MPI_Datatype type, MPI_Op op) {
  return op == MPI_NO_OP ? 0 : bytes(count, type);
}

}  // namespace
}  // namespace d5::mpi

D5_BOTH(Put, Rput,
        (const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int place_count, MPI_Datatype place_type, MPI_Win window),
        (data, count, type, target, place, place_count, place_type, window), Window{window},
        at(group, target, bytes(count, type), 0))
D5_BOTH(Get, Rget,
        (void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int place_count,
         MPI_Datatype place_type, MPI_Win window),
        (data, count, type, target, place, place_count, place_type, window), Window{window},
        at(group, target, 0, bytes(count, type)))
D5_BOTH(Accumulate, Raccumulate,
        (const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int place_count, MPI_Datatype place_type, MPI_Op op, MPI_Win window),
        (data, count, type, target, place, place_count, place_type, op, window), Window{window},
        at(group, target, bytes(count, type), 0))
D5_BOTH(Get_accumulate, Rget_accumulate,
        (const void* data, int count, MPI_Datatype type, void* before, int before_count,
         MPI_Datatype before_type, int target, MPI_Aint place, int place_count,
         MPI_Datatype place_type, MPI_Op op, MPI_Win window),
        (data, count, type, before, before_count, before_type, target, place, place_count,
         place_type, op, window),
        Window{window},
        at(group, target, bytes_sent(count, type, op), bytes(before_count, before_type)))
D5_COMPLETE(Fetch_and_op,
            (const void* data, void* before, MPI_Datatype type, int target, MPI_Aint place,
             MPI_Op op, MPI_Win window),
            (data, before, type, target, place, op, window), Window{window},
            at(group, target, bytes_sent(1, type, op), bytes(1, type)))
D5_COMPLETE(Compare_and_swap,
            (const void* data, const void* expected, void* before, MPI_Datatype type, int target,
             MPI_Aint place, MPI_Win window),
            (data, expected, before, type, target, place, window), Window{window},
            at(group, target, 2 * bytes(1, type), bytes(1, type)))

#define D5_ORDERS_ALL(NAME, PARAMETERS, ARGUMENTS) \
  D5_COMPLETE(NAME, PARAMETERS, ARGUMENTS, Window{window}, Moved{})
#define D5_ORDERS(NAME, PARAMETERS, ARGUMENTS) \
  D5_COMPLETE(NAME, PARAMETERS, ARGUMENTS, Window{window}, at(group, target, 0, 0))

D5_ORDERS(Win_lock, (int kind, int target, int assert, MPI_Win window),
          (kind, target, assert, window))
D5_ORDERS(Win_unlock, (int target, MPI_Win window), (target, window))
D5_ORDERS(Win_flush, (int target, MPI_Win window), (target, window))
D5_ORDERS(Win_flush_local, (int target, MPI_Win window), (target, window))
D5_ORDERS_ALL(Win_lock_all, (int assert, MPI_Win window), (assert, window))
D5_ORDERS_ALL(Win_unlock_all, (MPI_Win window), (window))
D5_ORDERS_ALL(Win_flush_all, (MPI_Win window), (window))
D5_ORDERS_ALL(Win_flush_local_all, (MPI_Win window), (window))
D5_ORDERS_ALL(Win_fence, (int assert, MPI_Win window), (assert, window))
D5_ORDERS_ALL(Win_start, (MPI_Group to, int assert, MPI_Win window), (to, assert, window))
D5_ORDERS_ALL(Win_complete, (MPI_Win window), (window))
D5_ORDERS_ALL(Win_post, (MPI_Group from, int assert, MPI_Win window), (from, assert, window))
D5_ORDERS_ALL(Win_wait, (MPI_Win window), (window))

// SPDX-License-Identifier: Apache-2.0
// Run by mpi_profile_test under mpirun, with d5_pmpi loaded before: calls of MPI whose bytes are
// known. Arguments: "ping-pong N" measures N round trips of 8 bytes, "puts N" N puts of 8 bytes;
// "unseen" starts MPI as Fortran does.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0, size = 1;

/// Prints rank 0's median.
template <class Call>
void measure(int times, const Call& call) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    const double begin = MPI_Wtime();
    call();
    seconds.push_back(MPI_Wtime() - begin);
  }
  std::ranges::sort(seconds);
  if (rank == 0) std::printf("%.9f\n", seconds[seconds.size() / 2]);
}

void ping_pong(int trips) {
  double data = 1;
  measure(trips, [&] {
    if (rank == 0) {
      MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
  });
}

void puts(int times) {
  const double data = 1;
  double* part = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  MPI_Win_lock_all(0, window);
  measure(times, [&] {
    if (rank == 0) MPI_Put(&data, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window);
  });
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

/// A ring by several kinds of calls; receive buffers are longer than the messages.
void point_to_point() {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const std::vector<int> out(10, rank);
  std::vector<int> in(100);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), 100, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out.data(), 10, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (in[9] != left) std::printf("WRONG: the message of rank %d\n", left);

  MPI_Sendrecv(out.data(), 3, MPI_INT, right, 2, in.data(), 100, MPI_INT, left, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Irecv(in.data(), 100, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend(out.data(), 5, MPI_INT, right, 3, MPI_COMM_WORLD);
  int index = 0;
  MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
  MPI_Irecv(in.data(), 100, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

void collectives() {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> some(4 * n, 1), all(4 * n * n, 1);
  std::vector<int> counts(n), begins(n);
  for (int r = 0; r < size; ++r) counts[static_cast<std::size_t>(r)] = r + 1;
  for (std::size_t r = 1; r < n; ++r) begins[r] = begins[r - 1] + counts[r - 1];
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  MPI_Barrier(copy);
  MPI_Bcast(some.data(), 4, MPI_DOUBLE, 0, copy);
  MPI_Reduce(some.data(), all.data(), 4, MPI_DOUBLE, MPI_SUM, 0, copy);
  MPI_Allreduce(MPI_IN_PLACE, some.data(), 4, MPI_DOUBLE, MPI_SUM, copy);
  MPI_Allgather(some.data(), 4, MPI_DOUBLE, all.data(), 4, MPI_DOUBLE, copy);
  MPI_Alltoall(some.data(), 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, copy);
  MPI_Gatherv(some.data(), rank + 1, MPI_DOUBLE, all.data(), counts.data(), begins.data(),
              MPI_DOUBLE, 0, copy);
  MPI_Scatter(all.data(), 3, MPI_DOUBLE, some.data(), 3, MPI_DOUBLE, 0, copy);
  MPI_Reduce_scatter(all.data(), some.data(), counts.data(), MPI_DOUBLE, MPI_SUM, copy);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, some.data(), 4, MPI_DOUBLE, MPI_SUM, copy, &request);
  for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
}

/// Three messages around the ring by two requests.
void persistent() {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const std::vector<int> out(7, rank);
  std::vector<int> in(100);
  MPI_Request requests[2];
  MPI_Recv_init(in.data(), 100, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out.data(), 7, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int done = 0; !done;) MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  MPI_Startall(2, requests);
  for (int i = 0, index = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);  // requests that were not started
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  if (in[6] != left) std::printf("WRONG: the prepared message of rank %d\n", left);
}

void one_sided() {
  const int right = (rank + 1) % size;
  const std::int64_t one = 1, none = 0;
  std::int64_t before = 0, several[3] = {1, 2, 3};
  std::int64_t* part = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  MPI_Win_set_name(window, "parts");
  std::fill_n(part, 8, 0);
  MPI_Win_fence(0, window);
  MPI_Put(several, 3, MPI_INT64_T, right, 0, 3, MPI_INT64_T, window);
  MPI_Put(several, 1, MPI_INT64_T, rank, 7, 1, MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  if (part[2] != 3) std::printf("WRONG: what was put\n");
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
  MPI_Get(several, 2, MPI_INT64_T, right, 0, 2, MPI_INT64_T, window);
  MPI_Accumulate(&one, 1, MPI_INT64_T, right, 4, 1, MPI_INT64_T, MPI_SUM, window);
  MPI_Fetch_and_op(&one, &before, MPI_INT64_T, right, 5, MPI_SUM, window);
  MPI_Fetch_and_op(&one, &before, MPI_INT64_T, right, 5, MPI_NO_OP, window);
  MPI_Win_flush(right, window);
  if (before != 1) std::printf("WRONG: what was fetched\n");
  MPI_Compare_and_swap(&one, &none, &before, MPI_INT64_T, right, 6, window);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rget(several, 3, MPI_INT64_T, right, 0, 3, MPI_INT64_T, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(right, window);
  MPI_Win_free(&window);
}

/// A Cartesian line without wrap-around, and a graph in which each rank receives from its
/// predecessor.
void neighbours() {
  const int periodic = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
  std::vector<double> out(4, rank), in(4, -1);
  MPI_Comm line = MPI_COMM_NULL, ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  MPI_Comm_set_name(line, "line");
  MPI_Neighbor_alltoall(out.data(), 2, MPI_DOUBLE, in.data(), 2, MPI_DOUBLE, line);
  if (rank > 0 && in[0] != rank - 1) std::printf("WRONG: the neighbour's part\n");
  MPI_Comm_free(&line);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  MPI_Comm_set_name(ring, "ring");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ineighbor_allgather(out.data(), 3, MPI_DOUBLE, in.data(), 3, MPI_DOUBLE, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&ring);
}

/// r + 1 elements for rank r: doubles for the even ones, ints for the odd.
void parts_of_differing_types() {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> out(n * n, 1), in(n * n);
  std::vector<int> to(n), from(n, rank + 1), begins(n);
  std::vector<MPI_Datatype> types(n), own(n, rank % 2 ? MPI_INT : MPI_DOUBLE);
  for (std::size_t r = 0; r < n; ++r) {
    to[r] = static_cast<int>(r) + 1;
    begins[r] = static_cast<int>(8 * n * r);
    types[r] = r % 2 ? MPI_INT : MPI_DOUBLE;
  }
  MPI_Alltoallw(out.data(), to.data(), begins.data(), types.data(), in.data(), from.data(),
                begins.data(), own.data(), MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  if (what == "unseen") {
    PMPI_Init(&argc, &argv);
    return PMPI_Finalize();
  }
  setenv("OMPI_MCA_osc", "^rdma", 0);  // its MPI_Compare_and_swap crashes on one node (4.1.4)
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (what == "ping-pong") {
    ping_pong(std::atoi(argv[2]));
  } else if (what == "puts") {
    puts(std::atoi(argv[2]));
  } else {
    point_to_point();
    persistent();
    collectives();
    neighbours();
    parts_of_differing_types();
    one_sided();
    std::printf("rank %d came to the end\n", rank);
  }
  MPI_Finalize();
  return 0;
}

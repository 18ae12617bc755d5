// SPDX-License-Identifier: Apache-2.0
// Run by mpi_profile_test under mpirun, with d5_pmpi loaded before: calls of MPI whose bytes are
// known. With "ping-pong N" it measures N round trips of 8 bytes instead.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0, size = 1;

void ping_pong(int trips) {
  double data = 1;
  const auto trip = [&] {
    if (rank == 0) {
      MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
  };
  std::vector<double> seconds;
  for (int i = 0; i < trips; ++i) {
    const double begin = MPI_Wtime();
    trip();
    seconds.push_back(MPI_Wtime() - begin);
  }
  std::ranges::sort(seconds);
  if (rank == 0) std::printf("%.9f\n", seconds[seconds.size() / 2]);
}

/// Every rank in a ring, each in another way; what is received is longer than asked for.
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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2) {
    ping_pong(std::atoi(argv[2]));
  } else {
    point_to_point();
    collectives();
    std::printf("rank %d came to the end\n", rank);
  }
  MPI_Finalize();
  return 0;
}

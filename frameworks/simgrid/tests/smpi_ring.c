// SPDX-License-Identifier: Apache-2.0
// Program for SMPI's compiler. It prints the seconds of an all-reduce of the given number of floats
// on the slowest rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int floats = atoi(argv[1]);
  // One memory for all ranks.
  float* in = SMPI_SHARED_MALLOC(sizeof(float) * (size_t)floats);
  float* out = SMPI_SHARED_MALLOC(sizeof(float) * (size_t)floats);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  double took = MPI_Wtime() - begin, slowest = 0;
  MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.9f\n", slowest);
  MPI_Finalize();
  return 0;
}

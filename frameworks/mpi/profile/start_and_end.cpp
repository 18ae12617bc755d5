// SPDX-License-Identifier: Apache-2.0
// Creation and destruction of MPI, communicators and windows.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "groups.hpp"
#include "recorder.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

using namespace d5::mpi;

namespace {

bool seen = false;

/// Reports a Fortran program that bypassed this library from begin to end; on the first rank, if
/// Open MPI reveals which it is.
__attribute__((destructor)) void tell_unseen() {
  int started = 0;
  PMPI_Initialized(&started);
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!started || seen || (rank && std::string_view(rank) != "0")) return;
  std::fprintf(
      stderr,
      "d5: this program started MPI without libd5_pmpi.so: calls from Fortran are not seen\n");
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  seen = true;
  const int code = PMPI_Init(argc, argv);
  begin_report();
  return code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  seen = true;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  begin_report();
  return code;
}
int MPI_Finalize() {
  report();
  return PMPI_Finalize();
}

int MPI_Comm_free(MPI_Comm* comm) {
  Groups::here().forget(*comm);
  return PMPI_Comm_free(comm);
}
int MPI_Comm_disconnect(MPI_Comm* comm) {
  Groups::here().forget(*comm);
  return PMPI_Comm_disconnect(comm);
}
int MPI_Win_free(MPI_Win* window) {
  const Group& group = Groups::here().of_window(*window);
  Groups::here().forget_window(*window);
  const Stopwatch watch;
  const int code = PMPI_Win_free(window);
  Recorder::here().add("MPI_Win_free", group, {}, watch.seconds());
  return code;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Run by foreign_communicator_test under mpirun: a program that starts and ends MPI itself, and
// uses d5 on its own communicator.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"

namespace {

void expect(bool true_here, const char* what) {
  if (true_here) return;
  std::printf("WRONG: %s\n", what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

/// Whether `call` throws an E whose message contains `words`.
template <class E>
bool throws(const std::string& words, const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return std::string(error.what()).find(words) != std::string::npos;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const MPI_Comm world_handle = MPI_COMM_WORLD;
  expect(throws<d5::CommunicationError>("MPI is not running",
                                        [&] { (void)d5::communicator_of(&world_handle); }),
         "before MPI_Init there is no communicator");
  MPI_Init(&argc, &argv);
  const bool with_world = argc > 1 && std::string(argv[1]) == "beside_world";
  if (with_world) d5::world()->barrier();

  int world_rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  const auto ranks = d5::communicator_of(&reversed);
  expect(ranks->rank() == size - 1 - world_rank && ranks->size() == size,
         "ranks are those of the communicator, not of the world");

  // d5's calls and the program's own, on one communicator, both under way at once.
  d5::Tensor ours = d5::Tensor::vector<float>({float(ranks->rank()), 1});
  float theirs = 2;
  auto under_way = ranks->start_all_reduce(ours);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &theirs, 1, MPI_FLOAT, MPI_SUM, reversed, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  under_way->wait();
  expect(ours.span<float>()[0] == float(size * (size - 1)) / 2 && ours.span<float>()[1] == size,
         "d5's sum");
  expect(theirs == 2 * size, "the program's sum");

  // One group of each half, and errors that return for d5 alone.
  const auto half = ranks->split(ranks->rank() % 2);
  d5::Tensor ones = d5::Tensor::vector<float>({1});
  half->all_reduce(ones);
  expect(ones.item<float>() == half->size(), "a group of it");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(reversed, &handler);
  expect(handler == MPI_ERRORS_ARE_FATAL, "the program's communicator is as it was");
  const MPI_Comm null = MPI_COMM_NULL;
  expect(throws<d5::ValueError>("MPI_COMM_NULL", [&] { (void)d5::communicator_of(&null); }),
         "MPI_COMM_NULL is refused");
  expect(throws<d5::ValueError>("null pointer", [] { (void)d5::communicator_of(nullptr); }),
         "a null pointer is refused");

  MPI_Finalize();
  expect(throws<d5::CommunicationError>("MPI was finalised", [&] { ranks->all_reduce(ours); }) &&
             throws<d5::CommunicationError>("MPI was finalised", [&] { (void)ranks->split(0); }),
         "a call after MPI_Finalize is an error");
  expect(throws<d5::CommunicationError>("it was finalised",
                                        [&] { (void)d5::communicator_of(&world_handle); }),
         "nothing can be made after MPI_Finalize");
  std::printf("rank %d came to the end\n", world_rank);
  return 0;
}

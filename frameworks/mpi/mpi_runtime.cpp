// SPDX-License-Identifier: Apache-2.0
#include "mpi_runtime.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "window_memory.hpp"

namespace d5::mpi {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 3s;

/// A separate communicator for the end of the job, independent of calls that are still under way.
MPI_Comm farewell = MPI_COMM_NULL;
/// MPI is finalised by the side that started it: d5, or the program around it.
bool started_here = false;

int world_rank() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void end_with_exception() {
  std::string reason = "terminated without an exception";
  if (const auto exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      reason = error.what();
    } catch (...) {
      reason = "an exception that is not a std::exception";
    }
  }
  end_job(reason);
}

}  // namespace

const std::string& library() {
  static const std::string name = [] {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);  // allowed before MPI_Init
    const std::string text(version, static_cast<std::size_t>(length));
    return text.substr(0, text.find(','));
  }();
  return name;
}

bool running() {
  int started = 0, ended = 0;  // both calls are allowed at any time
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

void expect_running(const std::string& who) {
  if (running()) return;
  throw CommunicationError(who +
                           ": MPI is not running: it was not started, it was finalised, or the "
                           "library that was started is not d5's (" +
                           library() + ")");
}

void leave(int status) {
  if (farewell == MPI_COMM_NULL || !running()) return;
  MPI_Request all_left;
  MPI_Ibarrier(farewell, &all_left);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int done = 0;;) {
    MPI_Test(&all_left, &done, MPI_STATUS_IGNORE);
    if (done) break;
    if (status != 0 && std::chrono::steady_clock::now() > deadline) {
      end_job(
          fmt::format("exited with status {} while other ranks were running; the job ends", status),
          status);
    }
    std::this_thread::sleep_for(200us);
  }
  WindowMemory::free_all();
  MPI_Comm_free(&farewell);
  if (started_here) MPI_Finalize();
}

void start() {
  int started = 0;
  MPI_Initialized(&started);
  if (!started) {
    // Open MPI 4.1.4's component "rdma" for one-sided calls crashes in MPI_Compare_and_swap on one
    // node. A user's choice is kept.
    setenv("OMPI_MCA_osc", "^rdma", 0);
    int provided = MPI_THREAD_SINGLE;
    // Serialized: any thread may call, one at a time, as `Communicator` promises.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw CommunicationError(
          fmt::format("rank {}: this MPI library allows calls from its main thread only; use one "
                      "that was built with MPI_THREAD_SERIALIZED",
                      world_rank()));
    }
    started_here = true;
  }
  expect_running("world");
  MPI_Comm_dup(MPI_COMM_WORLD, &farewell);
  std::set_terminate(end_with_exception);
  on_exit([](int status, void*) { leave(status); }, nullptr);
}

void end_job(const std::string& reason, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "rank %d: %s\n", world_rank(), reason.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
  std::abort();  // MPI_Abort does not return, but is not declared so
}

}  // namespace d5::mpi

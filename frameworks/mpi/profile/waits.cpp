// SPDX-License-Identifier: Apache-2.0
// Waits and tests for non-blocking calls, and starts of persistent ones.
#include <algorithm>
#include <vector>

#include "moved.hpp"
#include "recorder.hpp"
#include "stopwatch.hpp"

namespace d5::mpi {
namespace {

/// A wait or a test of one request. After a success, `is_done()` returns whether it is complete.
template <class Call, class IsDone>
int wait_for_one(MPI_Request* request, MPI_Status* status, const Call& call,
                 const IsDone& is_done) {
  MPI_Status own{};
  status = told(status, own);
  const MPI_Request before = *request;
  const Stopwatch watch;
  const int code = call(status);
  auto& recorder = Recorder::here();
  recorder.wait(before, watch.seconds());
  if (code == MPI_SUCCESS && is_done()) recorder.complete(before, status);
  return code;
}

/// The same for several; `status_of(i, statuses)` is null for a request that is not complete. After
/// a failure, requests that were reset are complete; persistent ones always are.
template <class Call, class StatusOf>
int wait_for(int count, MPI_Request* requests, MPI_Status* statuses, const Call& call,
             const StatusOf& status_of) {
  std::vector<MPI_Status> own;
  if (statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE) {
    own.resize(static_cast<std::size_t>(count) + 1);
    statuses = own.data();
  }
  const std::vector<MPI_Request> before(requests, requests + count);
  const Stopwatch watch;
  const int code = call(statuses);
  const double seconds = watch.seconds();
  auto& recorder = Recorder::here();
  const auto waited = std::ranges::count_if(before, [&](auto r) { return recorder.knows(r); });
  for (int i = 0; i < count && waited > 0; ++i) {
    const MPI_Request request = before[static_cast<std::size_t>(i)];
    recorder.wait(request, seconds / static_cast<double>(waited));
    const MPI_Status* status = status_of(i, statuses);
    const bool is_complete =
        code == MPI_SUCCESS ? status != nullptr : requests[i] == MPI_REQUEST_NULL;
    if (is_complete) recorder.complete(request, status);
  }
  return code;
}

/// Status of one of `done` requests with `indices`. MPI_UNDEFINED is negative.
auto status_of_some(const int* done, const int* indices) {
  return [=](int i, const MPI_Status* told) -> const MPI_Status* {
    const int* end = indices + std::max(*done, 0);
    const int* place = std::find(indices, end, i);
    return place == end ? nullptr : told + (place - indices);
  };
}
}  // namespace
}  // namespace d5::mpi

using namespace d5::mpi;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return wait_for_one(
      request, status, [&](MPI_Status* told) { return PMPI_Wait(request, told); },
      [] { return true; });
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return wait_for_one(
      request, status, [&](MPI_Status* told) { return PMPI_Test(request, done, told); },
      [&] { return *done != 0; });
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return wait_for(
      count, requests, statuses,
      [&](MPI_Status* told) { return PMPI_Waitall(count, requests, told); },
      [](int i, const MPI_Status* told) { return told + i; });
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return wait_for(
      count, requests, statuses,
      [&](MPI_Status* told) { return PMPI_Testall(count, requests, done, told); },
      [&](int i, const MPI_Status* told) { return *done ? told + i : nullptr; });
}
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return wait_for(
      count, requests, status,
      [&](MPI_Status* told) { return PMPI_Waitany(count, requests, index, told); },
      [&](int i, const MPI_Status* told) { return i == *index ? told : nullptr; });
}
int MPI_Testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  return wait_for(
      count, requests, status,
      [&](MPI_Status* told) { return PMPI_Testany(count, requests, index, done, told); },
      [&](int i, const MPI_Status* told) { return *done && i == *index ? told : nullptr; });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return wait_for(
      count, requests, statuses,
      [&](MPI_Status* told) { return PMPI_Waitsome(count, requests, done, indices, told); },
      status_of_some(done, indices));
}
int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return wait_for(
      count, requests, statuses,
      [&](MPI_Status* told) { return PMPI_Testsome(count, requests, done, indices, told); },
      status_of_some(done, indices));
}

int MPI_Start(MPI_Request* request) {
  const MPI_Request prepared = *request;
  const Stopwatch watch;
  const int code = PMPI_Start(request);
  if (code == MPI_SUCCESS) {
    Recorder::here().start_prepared(prepared, *request, watch.seconds());
  }
  return code;
}
int MPI_Startall(int count, MPI_Request* requests) {
  const std::vector<MPI_Request> prepared(requests, requests + count);
  const Stopwatch watch;
  const int code = PMPI_Startall(count, requests);
  const double each = watch.seconds() / std::max(count, 1);
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
    Recorder::here().start_prepared(prepared[static_cast<std::size_t>(i)], requests[i], each);
  }
  return code;
}
int MPI_Request_free(MPI_Request* request) {
  Recorder::here().free(*request);
  return PMPI_Request_free(request);
}

}  // extern "C"

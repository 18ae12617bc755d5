// SPDX-License-Identifier: Apache-2.0
// Wrappers of MPI calls, for programs that load this library before MPI's. Each calls MPI through
// the profiling interface and is recorded. The traffic of a failed call is not counted.
//
// A call is a row: its name, PARAMETERS and ARGUMENTS in brackets, AMONG which ranks it is, and the
// data it MOVED, in which `group` is those ranks. PARAMETERS are those of the blocking call; a
// non-blocking one has a request after them.
#pragma once

#include <mpi.h>

#include "groups.hpp"
#include "moved.hpp"
#include "recorder.hpp"
#include "stopwatch.hpp"

namespace d5::mpi {

struct Ranks {
  MPI_Comm comm;
  [[nodiscard]] const Group& group() const { return Groups::here().of(comm); }
};
struct Window {
  MPI_Win window;
  [[nodiscard]] const Group& group() const { return Groups::here().of_window(window); }
};

/// A call that is complete when it returns. `moved(group)` is evaluated afterwards.
template <class Among, class Call, class MovedBy>
int complete_call(const char* name, const Among& among, const Call& call, const MovedBy& moved) {
  const Stopwatch watch;
  const int code = call();
  const double seconds = watch.seconds();
  if (code != MPI_SUCCESS) return code;
  const Group& group = among.group();
  Recorder::here().add(name, group, moved(group), seconds);
  return code;
}

template <class Among, class Call, class MovedBy>
int started_call(const char* name, const Among& among, MPI_Request* request, const Call& call,
                 const MovedBy& moved) {
  const Stopwatch watch;
  const int code = call();
  const double seconds = watch.seconds();
  if (code != MPI_SUCCESS) return code;
  const Group& group = among.group();
  Recorder::here().start(*request, name, group, moved(group), seconds);
  return code;
}

/// A persistent request: each start counts as a call.
template <class Among, class Call, class MovedBy>
int prepared_call(const char* name, const Among& among, MPI_Request* request, const Call& call,
                  const MovedBy& moved) {
  const int code = call();
  if (code != MPI_SUCCESS) return code;
  const Group& group = among.group();
  Recorder::here().prepare(*request, name, group, moved(group));
  return code;
}

}  // namespace d5::mpi

#define D5_EXPAND(...) __VA_ARGS__
#define D5_COMPLETE(NAME, PARAMETERS, ARGUMENTS, AMONG, ...)                          \
  extern "C" int MPI_##NAME(D5_EXPAND PARAMETERS) {                                   \
    using namespace d5::mpi;                                                          \
    return complete_call(                                                             \
        "MPI_" #NAME, AMONG, [&] { return PMPI_##NAME(D5_EXPAND ARGUMENTS); },        \
        [&]([[maybe_unused]] const Group& group) -> Moved { return (__VA_ARGS__); }); \
  }
#define D5_WITH_REQUEST(HOW, NAME, PARAMETERS, ARGUMENTS, AMONG, ...)                            \
  extern "C" int MPI_##NAME(D5_EXPAND PARAMETERS, MPI_Request* request) {                        \
    using namespace d5::mpi;                                                                     \
    return HOW(                                                                                  \
        "MPI_" #NAME, AMONG, request, [&] { return PMPI_##NAME(D5_EXPAND ARGUMENTS, request); }, \
        [&]([[maybe_unused]] const Group& group) -> Moved { return (__VA_ARGS__); });            \
  }
#define D5_STARTED(...) D5_WITH_REQUEST(started_call, __VA_ARGS__)
#define D5_PREPARED(...) D5_WITH_REQUEST(prepared_call, __VA_ARGS__)
/// A call and its non-blocking form.
#define D5_BOTH(NAME, STARTED, ...) D5_COMPLETE(NAME, __VA_ARGS__) D5_STARTED(STARTED, __VA_ARGS__)

// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that a program makes where this library is loaded before MPI's: each does what
// it did, through the profiling interface, and is recorded.
//
// Where a call fails, what it would have moved is not counted.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "calls.hpp"
#include "recorder.hpp"
#include "report.hpp"

namespace d5::mpi {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A call that is complete when it returns. `moved()` is asked afterwards.
template <class Call, class MovedBy>
int complete_call(const char* name, MPI_Comm comm, const Call& call, const MovedBy& moved) {
  const Stopwatch watch;
  const int code = call();
  const double seconds = watch.seconds();
  if (code == MPI_SUCCESS) Recorder::here().add(name, comm, moved(), seconds);
  return code;
}

template <class Call, class MovedBy>
int started_call(const char* name, MPI_Comm comm, MPI_Request* request, const Call& call,
                 const MovedBy& moved) {
  const Stopwatch watch;
  const int code = call();
  const double seconds = watch.seconds();
  if (code == MPI_SUCCESS) Recorder::here().start(*request, name, comm, moved(), seconds);
  return code;
}

std::int64_t bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::int64_t{size} * count;
}
std::int64_t bytes(const int* counts, int ranks, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::accumulate(counts, counts + ranks, std::int64_t{0}) * size;
}
std::int64_t bytes_received(const MPI_Status& status) {
  int count = 0;
  PMPI_Get_count(&status, MPI_BYTE, &count);
  return count;
}
MPI_Status* told(MPI_Status* asked, MPI_Status& own) {
  return asked == MPI_STATUS_IGNORE ? &own : asked;
}

Moved sent(int to, int count, MPI_Datatype type) {
  if (to == MPI_PROC_NULL) return {};
  return {to, bytes(count, type), 0};
}
Moved received(const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return {};
  return {status.MPI_SOURCE, 0, bytes_received(status)};
}
/// The status tells it, when it is there.
Moved to_be_received(int from) {
  if (from == MPI_PROC_NULL) return {};
  return {from, 0, -1};
}

/// What a collective says counts between ranks of one group; a rank alone says nothing.
template <class F>
Moved collective(MPI_Comm comm, const F& moved) {
  const Group& group = Recorder::here().group(comm);
  if (group.size == 1 || group.joins_two_groups) return {};
  Moved result = moved(group);
  result.peer = MPI_PROC_NULL;
  return result;
}
Moved broadcast(MPI_Comm comm, std::int64_t all, int root) {
  return collective(comm, [&](const Group& group) {
    return group.rank == root ? Moved{0, all, 0} : Moved{0, 0, all};
  });
}
Moved reduce(MPI_Comm comm, std::int64_t all, int root) {
  return collective(comm, [&](const Group& group) {
    return group.rank == root ? Moved{0, 0, all} : Moved{0, all, 0};
  });
}
Moved all_reduce(MPI_Comm comm, std::int64_t all) {
  return collective(comm, [&](const Group&) { return Moved{0, all, all}; });
}

/// What a rank sends, or gets, as the call's parameters tell it: where they are equal, a part.
struct Part {
  int count;
  MPI_Datatype type;
  [[nodiscard]] std::int64_t bytes() const { return mpi::bytes(count, type); }
};
Moved all_gather(MPI_Comm comm, Part, Part from, int) {
  return collective(comm, [&](const Group& group) {
    return Moved{0, from.bytes(), from.bytes() * (group.size - 1)};
  });
}
Moved all_to_all(MPI_Comm comm, Part, Part from, int) {
  return collective(comm, [&](const Group& group) {
    const std::int64_t others = from.bytes() * (group.size - 1);
    return Moved{0, others, others};
  });
}
Moved gather(MPI_Comm comm, Part to, Part from, int root) {
  return collective(comm, [&](const Group& group) {
    return group.rank == root ? Moved{0, 0, from.bytes() * (group.size - 1)}
                              : Moved{0, to.bytes(), 0};
  });
}
Moved scatter(MPI_Comm comm, Part to, Part from, int root) {
  return collective(comm, [&](const Group& group) {
    return group.rank == root ? Moved{0, to.bytes() * (group.size - 1), 0}
                              : Moved{0, 0, from.bytes()};
  });
}
/// Of parts that differ, those of others.
std::int64_t of_others(const Group& group, const int* counts, MPI_Datatype type) {
  return bytes(counts, group.size, type) - bytes(counts[group.rank], type);
}

/// Requests whose calls are recorded, before and after a call that may complete some of them.
class Waiting {
 public:
  Waiting(int count, MPI_Request* requests)
      : requests_(requests), before_(requests, requests + count) {}

  /// Time is shared by all that were waited for. `status_of(i)` is of those that are complete.
  template <class StatusOf>
  void after(double seconds, const StatusOf& status_of) {
    auto& recorder = Recorder::here();
    std::int64_t waited = 0;
    for (const MPI_Request request : before_) waited += recorder.knows(request);
    if (waited == 0) return;
    for (const MPI_Request request : before_) {
      recorder.wait(request, seconds / static_cast<double>(waited));
    }
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const bool is_complete = before_[i] != MPI_REQUEST_NULL && requests_[i] == MPI_REQUEST_NULL;
      if (is_complete) recorder.complete(before_[i], status_of(static_cast<int>(i)));
    }
  }

 private:
  MPI_Request* requests_;
  std::vector<MPI_Request> before_;
};

/// A wait or a test of one request.
template <class Call>
int wait_for_one(MPI_Request* request, MPI_Status* status, const Call& call) {
  MPI_Status own{};
  status = told(status, own);
  const MPI_Request before = *request;
  const Stopwatch watch;
  const int code = call(status);
  auto& recorder = Recorder::here();
  recorder.wait(before, watch.seconds());
  if (before != MPI_REQUEST_NULL && *request == MPI_REQUEST_NULL) {
    recorder.complete(before, status);
  }
  return code;
}

/// Of all of several.
template <class Call>
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses, const Call& call) {
  std::vector<MPI_Status> own;
  if (statuses == MPI_STATUSES_IGNORE) {
    own.resize(static_cast<std::size_t>(count) + 1);
    statuses = own.data();
  }
  Waiting waiting(count, requests);
  const Stopwatch watch;
  const int code = call(statuses);
  waiting.after(watch.seconds(), [&](int i) { return statuses + i; });
  return code;
}

/// Of any of several; the one that is complete has the status.
template <class Call>
int wait_for_any(int count, MPI_Request* requests, MPI_Status* status, const Call& call) {
  MPI_Status own{};
  status = told(status, own);
  Waiting waiting(count, requests);
  const Stopwatch watch;
  const int code = call(status);
  waiting.after(watch.seconds(), [&](int) { return status; });
  return code;
}

/// Of some of several: `done` of them, at `indices`.
template <class Call>
int wait_for_some(int count, MPI_Request* requests, int* done, const int* indices,
                  MPI_Status* statuses, const Call& call) {
  std::vector<MPI_Status> own;
  if (statuses == MPI_STATUSES_IGNORE) {
    own.resize(static_cast<std::size_t>(count) + 1);
    statuses = own.data();
  }
  Waiting waiting(count, requests);
  const Stopwatch watch;
  const int code = call(statuses);
  waiting.after(watch.seconds(), [&](int i) -> const MPI_Status* {
    for (int k = 0; k < *done; ++k) {
      if (indices[k] == i) return statuses + k;
    }
    return nullptr;
  });
  return code;
}

}  // namespace
}  // namespace d5::mpi

using namespace d5::mpi;

// A call and its started form, which differ in the request at their ends.
// NAME, the call's own PARAMETERS and ARGUMENTS in brackets, what it MOVED.
#define D5_EXPAND(...) __VA_ARGS__
#define D5_BOTH(NAME, STARTED, PARAMETERS, ARGUMENTS, MOVED)                                \
  extern "C" int MPI_##NAME(D5_EXPAND PARAMETERS, MPI_Comm comm) {                          \
    return complete_call(                                                                   \
        "MPI_" #NAME, comm, [&] { return PMPI_##NAME(D5_EXPAND ARGUMENTS, comm); },         \
        [&] { return MOVED; });                                                             \
  }                                                                                         \
  extern "C" int MPI_##STARTED(D5_EXPAND PARAMETERS, MPI_Comm comm, MPI_Request* request) { \
    return started_call(                                                                    \
        "MPI_" #STARTED, comm, request,                                                     \
        [&] { return PMPI_##STARTED(D5_EXPAND ARGUMENTS, comm, request); },                 \
        [&] { return MOVED; });                                                             \
  }

#define D5_SEND(NAME, STARTED)                                                              \
  D5_BOTH(NAME, STARTED, (const void* data, int count, MPI_Datatype type, int to, int tag), \
          (data, count, type, to, tag), sent(to, count, type))
#define D5_BROADCAST(NAME, STARTED)                                            \
  D5_BOTH(NAME, STARTED, (void* data, int count, MPI_Datatype type, int root), \
          (data, count, type, root), broadcast(comm, bytes(count, type), root))
#define D5_REDUCTION_TO_ROOT(NAME, STARTED)                                               \
  D5_BOTH(NAME, STARTED,                                                                  \
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root), \
          (in, out, count, type, op, root), reduce(comm, bytes(count, type), root))
#define D5_REDUCTION(NAME, STARTED)                                                            \
  D5_BOTH(NAME, STARTED, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op), \
          (in, out, count, type, op), all_reduce(comm, bytes(count, type)))
#define D5_EQUAL_PARTS_CALL(NAME, STARTED, MOVED)                                        \
  D5_BOTH(NAME, STARTED,                                                                 \
          (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, \
           MPI_Datatype out_type),                                                       \
          (in, in_count, in_type, out, out_count, out_type),                             \
          MOVED(comm, Part{in_count, in_type}, Part{out_count, out_type}, 0))
#define D5_EQUAL_PARTS_OF_ROOT_CALL(NAME, STARTED, MOVED)                                \
  D5_BOTH(NAME, STARTED,                                                                 \
          (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, \
           MPI_Datatype out_type, int root),                                             \
          (in, in_count, in_type, out, out_count, out_type, root),                       \
          MOVED(comm, Part{in_count, in_type}, Part{out_count, out_type}, root))

D5_SENDS(D5_SEND)
D5_BROADCASTS(D5_BROADCAST)
D5_REDUCTIONS_TO_ROOT(D5_REDUCTION_TO_ROOT)
D5_REDUCTIONS(D5_REDUCTION)
D5_EQUAL_PARTS(D5_EQUAL_PARTS_CALL)
D5_EQUAL_PARTS_OF_ROOT(D5_EQUAL_PARTS_OF_ROOT_CALL)

D5_BOTH(Allgatherv, Iallgatherv,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
         const int* begins, MPI_Datatype type),
        (in, in_count, in_type, out, counts, begins, type),
        collective(comm, [&](const Group& group) {
          return Moved{0, bytes(counts[group.rank], type), of_others(group, counts, type)};
        }))
D5_BOTH(Alltoallv, Ialltoallv,
        (const void* in, const int* in_counts, const int* in_begins, MPI_Datatype in_type,
         void* out, const int* counts, const int* begins, MPI_Datatype type),
        (in, in_counts, in_begins, in_type, out, counts, begins, type),
        collective(comm, [&](const Group& group) {
          const std::int64_t got = of_others(group, counts, type);
          return Moved{0, in == MPI_IN_PLACE ? got : of_others(group, in_counts, in_type), got};
        }))
D5_BOTH(Gatherv, Igatherv,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
         const int* begins, MPI_Datatype type, int root),
        (in, in_count, in_type, out, counts, begins, type, root),
        collective(comm, [&](const Group& group) {
          return group.rank == root ? Moved{0, 0, of_others(group, counts, type)}
                                    : Moved{0, bytes(in_count, in_type), 0};
        }))
D5_BOTH(Scatterv, Iscatterv,
        (const void* in, const int* counts, const int* begins, MPI_Datatype type, void* out,
         int out_count, MPI_Datatype out_type, int root),
        (in, counts, begins, type, out, out_count, out_type, root),
        collective(comm, [&](const Group& group) {
          return group.rank == root ? Moved{0, of_others(group, counts, type), 0}
                                    : Moved{0, 0, bytes(out_count, out_type)};
        }))
D5_BOTH(Reduce_scatter, Ireduce_scatter,
        (const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op),
        (in, out, counts, type, op), collective(comm, [&](const Group& group) {
          return Moved{0, of_others(group, counts, type), bytes(counts[group.rank], type)};
        }))
D5_BOTH(Reduce_scatter_block, Ireduce_scatter_block,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op),
        (in, out, count, type, op), collective(comm, [&](const Group& group) {
          return Moved{0, bytes(count, type) * (group.size - 1), bytes(count, type)};
        }))

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  return complete_call(
      "MPI_Barrier", comm, [&] { return PMPI_Barrier(comm); }, [] { return Moved{}; });
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return started_call(
      "MPI_Ibarrier", comm, request, [&] { return PMPI_Ibarrier(comm, request); },
      [] { return Moved{}; });
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  return complete_call(
      "MPI_Recv", comm, [&] { return PMPI_Recv(data, count, type, from, tag, comm, status); },
      [&] { return received(*status); });
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return started_call(
      "MPI_Irecv", comm, request,
      [&] { return PMPI_Irecv(data, count, type, from, tag, comm, request); },
      [&] { return to_be_received(from); });
}
// Two halves, of which the time and the call are the first's.
int MPI_Sendrecv(const void* in, int in_count, MPI_Datatype in_type, int to, int to_tag, void* out,
                 int out_count, MPI_Datatype out_type, int from, int from_tag, MPI_Comm comm,
                 MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  const int code = complete_call(
      "MPI_Sendrecv", comm,
      [&] {
        return PMPI_Sendrecv(in, in_count, in_type, to, to_tag, out, out_count, out_type, from,
                             from_tag, comm, status);
      },
      [&] { return sent(to, in_count, in_type); });
  if (code == MPI_SUCCESS) Recorder::here().add("MPI_Sendrecv", comm, received(*status), 0, 0);
  return code;
}
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int to_tag, int from,
                         int from_tag, MPI_Comm comm, MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  const int code = complete_call(
      "MPI_Sendrecv_replace", comm,
      [&] {
        return PMPI_Sendrecv_replace(data, count, type, to, to_tag, from, from_tag, comm, status);
      },
      [&] { return sent(to, count, type); });
  if (code == MPI_SUCCESS) {
    Recorder::here().add("MPI_Sendrecv_replace", comm, received(*status), 0, 0);
  }
  return code;
}

// mpi4py receives what it does not know the size of so.
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return complete_call(
      "MPI_Mprobe", comm, [&] { return PMPI_Mprobe(from, tag, comm, message, status); },
      [&] {
        Recorder::here().match(*message, comm);
        return Moved{};
      });
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                MPI_Status* status) {
  return complete_call(
      "MPI_Improbe", comm, [&] { return PMPI_Improbe(from, tag, comm, found, message, status); },
      [&] {
        if (*found) Recorder::here().match(*message, comm);
        return Moved{};
      });
}
int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  const MPI_Comm comm = Recorder::here().matched(*message);
  return complete_call(
      "MPI_Mrecv", comm, [&] { return PMPI_Mrecv(data, count, type, message, status); },
      [&] { return received(*status); });
}
int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  const MPI_Comm comm = Recorder::here().matched(*message);
  return started_call(
      "MPI_Imrecv", comm, request, [&] { return PMPI_Imrecv(data, count, type, message, request); },
      [] { return to_be_received(MPI_ANY_SOURCE); });
}
int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return complete_call(
      "MPI_Probe", comm, [&] { return PMPI_Probe(from, tag, comm, status); },
      [] { return Moved{}; });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return wait_for_one(request, status, [&](MPI_Status* told) { return PMPI_Wait(request, told); });
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return wait_for_one(request, status,
                      [&](MPI_Status* told) { return PMPI_Test(request, done, told); });
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return wait_for_all(count, requests, statuses,
                      [&](MPI_Status* told) { return PMPI_Waitall(count, requests, told); });
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return wait_for_all(count, requests, statuses,
                      [&](MPI_Status* told) { return PMPI_Testall(count, requests, done, told); });
}
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return wait_for_any(count, requests, status,
                      [&](MPI_Status* told) { return PMPI_Waitany(count, requests, index, told); });
}
int MPI_Testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  return wait_for_any(count, requests, status, [&](MPI_Status* told) {
    return PMPI_Testany(count, requests, index, done, told);
  });
}
int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return wait_for_some(count, requests, done, indices, statuses, [&](MPI_Status* told) {
    return PMPI_Waitsome(count, requests, done, indices, told);
  });
}
int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return wait_for_some(count, requests, done, indices, statuses, [&](MPI_Status* told) {
    return PMPI_Testsome(count, requests, done, indices, told);
  });
}
int MPI_Request_free(MPI_Request* request) {
  Recorder::here().complete(*request, nullptr);
  return PMPI_Request_free(request);
}

int MPI_Comm_free(MPI_Comm* comm) {
  Recorder::here().forget(*comm);
  return PMPI_Comm_free(comm);
}
int MPI_Comm_disconnect(MPI_Comm* comm) {
  Recorder::here().forget(*comm);
  return PMPI_Comm_disconnect(comm);
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  begin_report();
  return code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  begin_report();
  return code;
}
int MPI_Finalize() {
  report();
  return PMPI_Finalize();
}

}  // extern "C"

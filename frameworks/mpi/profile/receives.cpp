// SPDX-License-Identifier: Apache-2.0
// Messages from one rank, or from any; the status gives the sender and the size.
#include "recorded_call.hpp"

#define D5_RECEIVE_PARAMETERS \
  (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm)

D5_STARTED(Irecv, D5_RECEIVE_PARAMETERS, (data, count, type, from, tag, comm), Ranks{comm},
           to_be_received(from))
D5_PREPARED(Recv_init, D5_RECEIVE_PARAMETERS, (data, count, type, from, tag, comm), Ranks{comm},
            to_be_received(from))
D5_COMPLETE(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status),
            (from, tag, comm, status), Ranks{comm}, Moved{})

using namespace d5::mpi;

namespace {

/// A pair of halves; the time and the call belong to the first.
template <class Call>
int send_and_receive(const char* name, MPI_Comm comm, const Moved& out, MPI_Status* asked,
                     const Call& call) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  const int code = complete_call(
      name, Ranks{comm}, [&] { return call(status); }, [&](const Group&) { return out; });
  if (code == MPI_SUCCESS) {
    Recorder::here().add(name, Ranks{comm}.group(), received(*status), 0, 0);
  }
  return code;
}

}  // namespace

extern "C" {

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  return complete_call(
      "MPI_Recv", Ranks{comm},
      [&] { return PMPI_Recv(data, count, type, from, tag, comm, status); },
      [&](const Group&) { return received(*status); });
}

int MPI_Sendrecv(const void* in, int in_count, MPI_Datatype in_type, int to, int to_tag, void* out,
                 int out_count, MPI_Datatype out_type, int from, int from_tag, MPI_Comm comm,
                 MPI_Status* asked) {
  return send_and_receive("MPI_Sendrecv", comm, sent(to, in_count, in_type), asked,
                          [&](MPI_Status* status) {
                            return PMPI_Sendrecv(in, in_count, in_type, to, to_tag, out, out_count,
                                                 out_type, from, from_tag, comm, status);
                          });
}
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int to_tag, int from,
                         int from_tag, MPI_Comm comm, MPI_Status* asked) {
  return send_and_receive(
      "MPI_Sendrecv_replace", comm, sent(to, count, type), asked, [&](MPI_Status* status) {
        return PMPI_Sendrecv_replace(data, count, type, to, to_tag, from, from_tag, comm, status);
      });
}

// mpi4py uses it to receive messages of unknown size.
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return complete_call(
      "MPI_Mprobe", Ranks{comm}, [&] { return PMPI_Mprobe(from, tag, comm, message, status); },
      [&](const Group&) {
        Recorder::here().match(*message, comm);
        return Moved{};
      });
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                MPI_Status* status) {
  return complete_call(
      "MPI_Improbe", Ranks{comm},
      [&] { return PMPI_Improbe(from, tag, comm, found, message, status); },
      [&](const Group&) {
        if (*found) Recorder::here().match(*message, comm);
        return Moved{};
      });
}
int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* asked) {
  MPI_Status own{};
  MPI_Status* status = told(asked, own);
  return complete_call(
      "MPI_Mrecv", Ranks{Recorder::here().matched(*message)},
      [&] { return PMPI_Mrecv(data, count, type, message, status); },
      [&](const Group&) { return received(*status); });
}
int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  return started_call(
      "MPI_Imrecv", Ranks{Recorder::here().matched(*message)}, request,
      [&] { return PMPI_Imrecv(data, count, type, message, request); },
      [](const Group&) { return to_be_received(MPI_ANY_SOURCE); });
}

}  // extern "C"

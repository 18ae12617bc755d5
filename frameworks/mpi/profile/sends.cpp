// SPDX-License-Identifier: Apache-2.0
// Messages to one rank.
#include "recorded_call.hpp"

#define D5_SEND(NAME, STARTED, PREPARED)                                                        \
  D5_BOTH(NAME, STARTED,                                                                        \
          (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),     \
          (data, count, type, to, tag, comm), Ranks{comm}, sent(to, count, type))               \
  D5_PREPARED(PREPARED,                                                                         \
              (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
              (data, count, type, to, tag, comm), Ranks{comm}, sent(to, count, type))

D5_SEND(Send, Isend, Send_init)
D5_SEND(Bsend, Ibsend, Bsend_init)
D5_SEND(Ssend, Issend, Ssend_init)
D5_SEND(Rsend, Irsend, Rsend_init)

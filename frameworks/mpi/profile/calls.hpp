// SPDX-License-Identifier: Apache-2.0
// Which calls are recorded: each line a blocking call and its started form, under the parameters
// that they have in common. A call that is not here passes unseen.
#pragma once

#define D5_SENDS(X) X(Send, Isend) X(Bsend, Ibsend) X(Ssend, Issend) X(Rsend, Irsend)
#define D5_BROADCASTS(X) X(Bcast, Ibcast)
#define D5_REDUCTIONS_TO_ROOT(X) X(Reduce, Ireduce)
#define D5_REDUCTIONS(X) X(Allreduce, Iallreduce) X(Scan, Iscan) X(Exscan, Iexscan)
#define D5_EQUAL_PARTS(X) X(Allgather, Iallgather, all_gather) X(Alltoall, Ialltoall, all_to_all)
#define D5_EQUAL_PARTS_OF_ROOT(X) X(Gather, Igather, gather) X(Scatter, Iscatter, scatter)

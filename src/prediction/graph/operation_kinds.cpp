// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_kind.hpp"

namespace d5 {
namespace {

struct KindRow {
  const char *name, *lane, *summary;
  bool communicates = false;
};
constexpr KindRow kKindRows[] = {
    {"forward", "compute", "forward step of a node"},
    {"backward", "compute", "backward step of a node"},
    {"update", "compute", "update of a parameter from its final gradient"},
    {"compute", "compute", "computation of a trace that does not say which"},
    {"load", "loader", "loading and preparing a batch"},
    {"overhead", "compute", "framework overhead between nodes"},
    {"copy", "copy", "copy of a tensor between device and host"},
    {"compress", "compute", "compression of a gradient"},
    {"decompress", "compute", "decompression of a received gradient"},
    {"negotiation", "network", "agreement of ranks on which gradients are ready everywhere", true},
    {"all_reduce", "network", "all-reduce: sum over all ranks, on each", true},
    {"reduce_scatter", "network", "reduce-scatter: sum over all ranks, one part on each", true},
    {"all_gather", "network", "all-gather: parts of all ranks, on each", true},
    {"broadcast", "network", "broadcast: values of one rank, on each", true},
    {"reduce", "network", "reduce: sum over all ranks, on one", true},
    {"gather", "network", "gather: parts of all ranks, on one", true},
    {"scatter", "network", "scatter: a part from one rank to each", true},
    {"all_to_all", "network", "all-to-all: a part from each rank to each", true},
    {"barrier", "network", "barrier: no rank goes on before all have come", true},
    {"send", "network", "message to another rank", true},
    {"receive", "network", "message from another rank", true},
    {"push", "network", "gradient sent to a parameter server", true},
    {"pull", "network", "parameter received from a parameter server", true},
};

void add_kinds(Registry<OperationKind>& kinds) {
  for (const KindRow& row : kKindRows)
    kinds.add(row.name, {row.summary, row.lane, row.communicates});
}

}  // namespace

Registry<OperationKind>& operation_kinds() {
  static Registry<OperationKind> kinds("kind of operation", add_kinds);
  return kinds;
}

}  // namespace d5

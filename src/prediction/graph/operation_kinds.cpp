// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_kind.hpp"

namespace d5 {
namespace {

struct KindRow {
  const char *name, *lane, *summary;
  bool communicates = false;
};
constexpr KindRow kKindRows[] = {
    {"forward", "compute", "a node's forward step"},
    {"backward", "compute", "a node's backward step"},
    {"update", "compute", "a parameter's update from its final gradient"},
    {"load", "loader", "reads and prepares a batch"},
    {"overhead", "compute", "what a framework does between its nodes"},
    {"copy", "copy", "moves a tensor between a device and its host"},
    {"compress", "compute", "encodes a gradient for the network"},
    {"decompress", "compute", "decodes what came over the network"},
    {"negotiation", "network", "ranks agree on which gradients are ready everywhere", true},
    {"all_reduce", "network", "sums over all ranks, the sum on each", true},
    {"reduce_scatter", "network", "sums over all ranks, a part of the sum on each", true},
    {"all_gather", "network", "the parts of all ranks, on each", true},
    {"broadcast", "network", "one rank's values, on each", true},
    {"send", "network", "to one other rank", true},
    {"receive", "network", "from one other rank", true},
    {"push", "network", "a gradient, to a parameter server", true},
    {"pull", "network", "a parameter, from a parameter server", true},
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5::detail {

/// The option of schemes whose ranks have neighbours.
struct TopologyChoice {
  EntryChoice topology{"ring"};

  void declare(OptionList& options) {
    options.add("topology", topology, "graph of neighbours", topologies().kind());
  }
  [[nodiscard]] MixingMatrix matrix(int ranks) const {
    return topologies().at(topology.name).make(ranks, topology.settings);
  }
};

/// Conditions for records: |lambda_2|, the factor by which disagreement shrinks in each mixing.
[[nodiscard]] inline Conditions mixing_conditions(const MixingMatrix& w) {
  return {{"topology.second_eigenvalue", aside(w.second_eigenvalue())}};
}

}  // namespace d5::detail

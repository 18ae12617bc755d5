// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/graph/partition.hpp"

namespace d5::detail {

/// Cost model for balancing the stages of a pipeline.
struct StageBalance {
  enum class Costs { flop, measured };
  Costs costs = Costs::flop;
  std::int64_t batch = 1;
  double flop_per_byte = 10, bytes_per_second = 1e9;
  std::string starts;  // first nodes instead of balancing

  void declare(OptionList& options);
};

/// `stage_starts` with the costs of the network's nodes, or the starts in `balance`. Measured costs
/// include backward if there is an output `loss`, and may differ between calls.
/// Throws: ValueError for starts that are not a list with one number per stage; as `stage_starts`.
[[nodiscard]] std::vector<std::size_t> balanced_starts(const Network& network, int stages,
                                                       const StageBalance& balance,
                                                       const std::string& loss = "loss");

/// `balanced_starts` of rank 0, on all ranks. A collective.
[[nodiscard]] std::vector<std::size_t> agreed_starts(const Network& network, int stages,
                                                     const StageBalance& balance,
                                                     const std::string& loss, Communicator& ranks);

}  // namespace d5::detail

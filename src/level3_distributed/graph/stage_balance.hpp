// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/graph/partition.hpp"

namespace d5::detail {

/// What a stage is taken to cost, for cuts that make the longest as short as can be.
struct StageBalance {
  enum class Costs { flop, measured };
  Costs costs = Costs::flop;
  std::int64_t batch = 1;
  double flop_per_byte = 10, bytes_per_second = 1e9;
  std::string starts;  // first nodes, in place of a balance

  void declare(OptionList& options);
};

/// As `stage_starts`, by what the network's nodes cost, or as `balance` says. Where costs are
/// measured, backward counts as well if there is an output `loss`, and two calls may differ.
/// Throws: ValueError for starts that are no list of a number a stage; as `stage_starts`.
[[nodiscard]] std::vector<std::size_t> balanced_starts(const Network& network, int stages,
                                                       const StageBalance& balance,
                                                       const std::string& loss = "loss");

/// The same on all ranks: those that rank 0 has measured. A collective.
[[nodiscard]] std::vector<std::size_t> agreed_starts(const Network& network, int stages,
                                                     const StageBalance& balance,
                                                     const std::string& loss, Communicator& ranks);

}  // namespace d5::detail

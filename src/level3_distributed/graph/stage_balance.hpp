// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entry.hpp"
#include "d5/level3_distributed/partition.hpp"

namespace d5::detail {

/// What a stage is taken to cost, for cuts that make the longest as short as can be.
struct StageBalance {
  enum class Costs { flop, measured };
  Costs costs = Costs::flop;
  std::int64_t batch = 1;
  double flop_per_byte = 10, bytes_per_second = 1e9;

  void declare(OptionList& options);
};

/// As `stage_starts`, by what the network's nodes cost. Where that is measured, backward counts as
/// well if there is an output `loss`, and two calls may differ.
[[nodiscard]] std::vector<std::size_t> balanced_starts(const Network& network, int stages,
                                                       const StageBalance& balance,
                                                       const std::string& loss = "loss");

}  // namespace d5::detail

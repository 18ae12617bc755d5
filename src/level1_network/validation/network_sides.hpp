// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/validation/network_check.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"

namespace d5 {

/// One network with its inputs, and factories of executors for its parts.
struct NetworkSides {
  Network network;
  ValueMap inputs;
  MakeExecutor subject, reference;
};

/// Reduces the network of `sides` into the folder `options.reduce`, resuming if it exists, and
/// returns a record with the number of nodes left.
[[nodiscard]] Measurement reduce_to_folder(const NetworkSides& sides, const std::string& word,
                                           const NetworkCheckOptions& options);

}  // namespace d5

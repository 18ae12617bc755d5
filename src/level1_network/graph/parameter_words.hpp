// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Number of parameters that came from Constant nodes or nested graphs.
[[nodiscard]] std::size_t count_lifted(const Network& network);

/// Tensors in the place of parameters that stay constant, one line per reason: "val_22, val_25: a
/// number of the program that was exported".
[[nodiscard]] std::vector<std::string> constant_words(const Network& network);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// Names of the constants of a network that training changes.
[[nodiscard]] std::vector<std::string> running_statistics(const Network& network);

}  // namespace d5::detail

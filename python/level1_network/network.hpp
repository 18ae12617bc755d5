// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5::python {

/// "<d5.Network lenet: 9 nodes, ...>"
[[nodiscard]] std::string describe(const Network& network);
/// Call after binding the class itself.
void bind_network_picture();

}  // namespace d5::python

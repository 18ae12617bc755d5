// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/transform.hpp"

namespace d5::detail {

/// A copy in which updates of constants become outputs, and nothing is overwritten: every run is
/// the same.
[[nodiscard]] Network without_updates(const Network& network);

/// The first node in execution order with an output of the same name that differs between the
/// networks: "Resize 'up': output y[1]: got 0.5, expected 1". `reason` describes the known
/// difference of outputs.
[[nodiscard]] std::string differing_node(const Network& before, const Network& after, Keeps keeps,
                                         const ValueMap& inputs, const std::string& reason);

}  // namespace d5::detail

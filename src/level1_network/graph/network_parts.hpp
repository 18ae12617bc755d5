// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// What a network declares of an input that is fed `tensor`.
[[nodiscard]] onnx::Type type_of(const Tensor& tensor);

/// The first `nodes` nodes of a network as one of its own, with the tensors `outputs` as outputs.
/// No run overwrites its constants.
[[nodiscard]] Network beginning_of(const Network& network, std::size_t nodes,
                                   const std::set<std::string>& outputs);

/// Some nodes of a network, in its order, as one of their own: outputs are what none of them reads,
/// and what the network gives out; what they read of others are parameters and constants of
/// `network`, or inputs, of which `values` tells the types. Throws: as `alone`.
[[nodiscard]] Network part_of(const std::vector<onnx::Node>& nodes, const Network& network,
                              const ValueMap& values);

/// One node as a network of its own: what it writes are its outputs; what it reads are parameters
/// and constants of `network`, or inputs, of which `values` tells the types.
/// Throws: NotFound for a value that is not there; Unsupported for one whose type is not known.
[[nodiscard]] Network alone(const onnx::Node& node, const Network& network, const ValueMap& values);

}  // namespace d5

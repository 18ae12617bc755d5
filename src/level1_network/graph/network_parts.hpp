// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Declared type of an input that is fed `tensor`.
[[nodiscard]] onnx::Type type_of(const Tensor& tensor);

/// The first `nodes` nodes of a network as a network, with the tensors `outputs` as outputs. Runs
/// do not overwrite its constants.
[[nodiscard]] Network beginning_of(const Network& network, std::size_t nodes,
                                   const std::set<std::string>& outputs);

/// Some nodes of a network, in order, as a network. Outputs are the tensors that no node among them
/// reads, and outputs of `network`. Tensors from outside are parameters and constants of `network`,
/// or inputs typed by `values`. Throws: as `alone`.
[[nodiscard]] Network part_of(const std::vector<onnx::Node>& nodes, const Network& network,
                              const ValueMap& values);

/// One node as a network. It writes the outputs; its inputs are parameters and constants of
/// `network`, or inputs typed by `values`.
/// Throws: NotFound for a missing value; Unsupported for a value of unknown type.
[[nodiscard]] Network alone(const onnx::Node& node, const Network& network, const ValueMap& values);

}  // namespace d5

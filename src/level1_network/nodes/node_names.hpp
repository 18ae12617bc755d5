// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Names that a node reads: its inputs, captures of its subgraphs, and tensors of a Gradient node.
[[nodiscard]] std::vector<std::string> read_names(const onnx::Node& node);

/// New names of tensors, by their current ones.
using NewNames = std::map<std::string, std::string, std::less<>>;

/// Renames everything that the node reads, in its subgraphs too.
/// Throws: ValueError if a subgraph has a tensor that hides the new name.
void rename_reads(onnx::Node& node, const NewNames& names);

/// The first tensor that the node writes; empty if it writes none.
[[nodiscard]] std::string first_output(const onnx::Node& node);

/// The layer of a node name, as defined for `profile_records`
/// (d5/level1_network/profile/network_profile.hpp); a name of one part is its own layer.
[[nodiscard]] std::string layer_of(const std::string& name);

}  // namespace d5

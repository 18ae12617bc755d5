// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/arena.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {

/// State shared by all handles of one network.
struct Network::State {
  onnx::Model model;
  onnx::Remainder remainder;                   ///< rest of the file that it was loaded from
  std::set<std::string, std::less<>> tensors;  ///< every name that a node may read
  std::set<std::string, std::less<>> trainable;
  ParameterNotes notes;
  std::map<std::string, std::string> updates;
  std::map<std::string, Tensor, std::less<>> fed;  ///< fed inputs and node outputs
  std::vector<Parameter> parameters;
  Arena values, gradients;
  Device device = {};  ///< device of the parameters
  bool laid_out = false;
  std::uint64_t revision = 0, value_changes = 0;

  void edited() {
    laid_out = false;
    fed.clear();
    ++revision;
    ++value_changes;
  }
  /// Takes over a model and all of its names.
  void take_model(onnx::Model whole);
  /// Throws: ValueError for an empty name, or one in use.
  void define(const std::string& name);
  /// Throws: NotFound.
  void expect_known(std::string_view name) const;
  /// Opset of nodes in `domain`; the model imports it from now on.
  int import_opset(const std::string& domain);
  /// Adds a missing name and opset to a node, and defines its outputs.
  /// Throws: ValueError for a name that is taken.
  void admit(onnx::Node& node);
  /// Removes the nodes that write one of `names`, and values of these names. Returns the former
  /// index of the last removed node. Throws: NotFound; ValueError for an input of the network.
  std::size_t take_out(const std::set<std::string, std::less<>>& names);
  /// Makes all readers of `names` read their replacements; outputs of the network stay.
  void rename_reads(const NewNames& names);
  /// Throws: ValueError, NotFound if a node or the network itself reads a missing tensor.
  void expect_whole(const State& before) const;
  /// Sorts the nodes, and counts the edit. Throws: as `expect_whole`; ValueError for a cycle.
  void finish_edit(const State& before);
  /// `memory`: replaces arenas on the device; values are not copied.
  void lay_out(const std::function<Tensor(std::size_t bytes)>* memory = nullptr);
  /// Applies a role from a file's metadata. Throws: FormatError.
  void take_role(const onnx::Graph& graph, const std::string& name, const std::string& role);
};

}  // namespace d5

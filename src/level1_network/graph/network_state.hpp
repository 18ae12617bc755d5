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
  /// Takes over a model whose names are its own.
  void take_model(onnx::Model whole);
  /// Throws: ValueError for a name that is taken, or empty.
  void define(const std::string& name);
  /// Throws: NotFound.
  void expect_known(std::string_view name) const;
  /// The opset of nodes in `domain`, which the model imports from now on.
  int import_opset(const std::string& domain);
  /// Gives a node what it lacks of name and opset, and defines what it writes.
  /// Throws: ValueError for a name that is taken.
  void admit(onnx::Node& node);
  /// Removes the nodes that write one of `names`, and values of these names. Returns the former
  /// index of the last removed node. Throws: NotFound; ValueError for an input of the network.
  std::size_t take_out(const std::set<std::string, std::less<>>& names);
  /// Whatever reads one of `names` reads what they stand for; outputs of the network stay.
  void rename_reads(const NewNames& names);
  /// Throws: ValueError, NotFound, where a node or the network itself reads what is not there.
  void expect_whole(const State& before) const;
  /// Brings nodes into order, and counts the edit. Throws: as `expect_whole`; ValueError for a
  /// cycle.
  void finish_edit(const State& before);
  /// `memory`: in place of arenas on the device, without the values.
  void lay_out(const std::function<Tensor(std::size_t bytes)>* memory = nullptr);
  /// A file's word on what is trained. Throws: FormatError.
  void take_role(const onnx::Graph& graph, const std::string& name, const std::string& role);
};

}  // namespace d5

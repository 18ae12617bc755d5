// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

/// A tensor that one part of a network writes and others read.
struct CutTensor {
  std::string name;
  TensorDesc desc;      ///< for the sizes that the cut was made for
  int from = 0;         ///< part
  std::vector<int> to;  ///< parts, ascending
  int number = 0;       ///< among all cut tensors, in every part the same
};

/// One of the networks that together compute what a whole one did. Its values are its own.
struct NetworkPart {
  Network network;
  std::vector<CutTensor> receives;  ///< inputs of `network`
  std::vector<CutTensor> sends;     ///< outputs of `network`
};

/// Makes several networks of one, a part for each rank of those that hold the model together.
///
///     auto parts = partitions().at("pipeline").make({{"batch", 8}})->cut(network, 4);
class Partition {
 public:
  virtual ~Partition() = default;
  /// Every node, parameter and output is in one part; inputs and constants are where they are read.
  /// Throws: ValueError for less than one part or more parts than nodes; Unsupported where no cut
  /// goes through.
  [[nodiscard]] virtual std::vector<NetworkPart> cut(const Network& network, int parts) const = 0;
};

using PartitionEntry = Entry<std::shared_ptr<Partition>()>;
/// pipeline, tensor_parallel, and a user's.
[[nodiscard]] Registry<PartitionEntry>& partitions();

/// The first node of each stage: those for which the longest stage is as short as can be, where a
/// stage takes its nodes' `costs` and that of what enters it. `entering[i]` is that of a cut before
/// node i, infinite where there can be none; `entering[0]` is not read.
///
/// Costs may be measured times of nodes, or FLOP; both lists in the same unit.
///
///     stage_starts({{1, 1, 2}}, {{0, 0, 0}}, 2);  // 0, 2
///
/// Throws: ValueError for less than one stage, or more stages than nodes; ShapeError for lists of
/// two lengths; Unsupported where all cuts are infinite.
[[nodiscard]] std::vector<std::size_t> stage_starts(std::span<const double> costs,
                                                    std::span<const double> entering, int stages);

/// What a cut before each node lets cross, in bytes; infinite where there can be none: a parameter
/// is read on both sides, or what crosses is no tensor of known shape.
[[nodiscard]] std::vector<double> crossing_bytes(const Network& network, const OpenSizes& sizes);

/// Stages of nodes that follow each other in the graph, where each begins at a node of `starts`.
/// A tensor goes from the stage that writes it straight to those that read it. A parameter that
/// nobody reads is stage 0's.
/// Throws: ValueError for starts that are not ascending from 0; Unsupported for a parameter that
/// two stages read, or a cut through what is no tensor of known shape.
[[nodiscard]] std::vector<NetworkPart> cut_into_stages(const Network& network,
                                                       const std::vector<std::size_t>& starts,
                                                       const OpenSizes& sizes);
/// One of them, with values of its own; nothing else is copied. Throws: as `cut_into_stages`.
[[nodiscard]] NetworkPart cut_out_stage(const Network& network,
                                        const std::vector<std::size_t>& starts, int stage,
                                        const OpenSizes& sizes);
/// What goes from stage to stage. Reads no parameter's value. Throws: as `cut_into_stages`.
[[nodiscard]] std::vector<CutTensor> cut_tensors(const Network& network,
                                                 const std::vector<std::size_t>& starts,
                                                 const OpenSizes& sizes);

}  // namespace d5

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
  TensorDesc desc;      ///< at the sizes that the cut was made for
  int from = 0;         ///< index of the writing part
  std::vector<int> to;  ///< indices of the reading parts, ascending
  int number = 0;       ///< index among all cut tensors, the same in every part
};

/// One part of a partitioned network: a network with its own copy of the values.
struct NetworkPart {
  Network network;
  std::vector<CutTensor> receives;  ///< inputs of `network`
  std::vector<CutTensor> sends;     ///< outputs of `network`
};

/// Cuts a network into parts for model parallelism, one for each rank that holds a share of the
/// model.
///
///     auto parts = partitions().at("pipeline").make({{"batch", 8}})->cut(network, 4);
class Partition {
 public:
  virtual ~Partition() = default;
  /// Cuts the network. Every node, parameter and output is in one part; inputs and constants are in
  /// each part that reads them.
  /// Throws: ValueError for less than one part or more parts than nodes; Unsupported if there is no
  /// possible cut.
  [[nodiscard]] virtual std::vector<NetworkPart> cut(const Network& network, int parts) const = 0;
};

using PartitionEntry = Entry<std::shared_ptr<Partition>()>;
/// All partitions by name: pipeline, tensor_parallel, and user-defined ones.
[[nodiscard]] Registry<PartitionEntry>& partitions();

/// The first node of each stage of the balanced partition, which minimises the cost of the most
/// expensive stage. A stage costs the sum of its nodes' `costs` plus that of the tensors that enter
/// it. `entering[i]` is the cost of a cut before node i, infinite if no cut is possible;
/// `entering[0]` is not read.
///
/// Units: any, such as measured seconds or FLOP, but the same for both lists.
///
///     stage_starts({{1, 1, 2}}, {{0, 0, 0}}, 2);  // 0, 2
///
/// Throws: ValueError for less than one stage, or more stages than nodes; ShapeError for lists of
/// different lengths; Unsupported if all cuts are infinite.
[[nodiscard]] std::vector<std::size_t> stage_starts(std::span<const double> costs,
                                                    std::span<const double> entering, int stages);

/// Bytes that cross a cut before each node; infinite if no cut is possible, because a parameter is
/// read on both sides or a crossing value is not a tensor of known shape.
[[nodiscard]] std::vector<double> crossing_bytes(const Network& network, const OpenSizes& sizes);

/// Cuts the network into stages of consecutive nodes; each begins at a node of `starts`. A tensor
/// goes directly from the stage that writes it to each stage that reads it. An unused parameter
/// belongs to stage 0.
/// Throws: ValueError for starts that are not ascending from 0; Unsupported for a parameter that
/// two stages read, or a cut through a value that is not a tensor of known shape.
[[nodiscard]] std::vector<NetworkPart> cut_into_stages(const Network& network,
                                                       const std::vector<std::size_t>& starts,
                                                       const OpenSizes& sizes);
/// One stage with a copy of its values; nothing else is copied.
/// Throws: as `cut_into_stages`.
[[nodiscard]] NetworkPart cut_out_stage(const Network& network,
                                        const std::vector<std::size_t>& starts, int stage,
                                        const OpenSizes& sizes);
/// The tensors that go from stage to stage. Reads no parameter's value.
/// Throws: as `cut_into_stages`.
[[nodiscard]] std::vector<CutTensor> cut_tensors(const Network& network,
                                                 const std::vector<std::size_t>& starts,
                                                 const OpenSizes& sizes);

}  // namespace d5

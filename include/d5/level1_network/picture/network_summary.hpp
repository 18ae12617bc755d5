// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace d5 {

/// Parts of a network and the work of one forward run, computed without running it.
///
///     const NetworkSummary summary = summarise(network, {.batch = 64});
///     for (const auto& part : parts_of(summary, SummaryBy::layer)) use(part.name, part.cost);
///
/// Units: bytes; FLOP as `Operator::cost` counts them.
struct NetworkSummary {
  /// A node, a group of nodes, or the whole network.
  struct Part {
    std::string name;          ///< name of the node (or its first output), layer or operator
    std::string op_type = {};  ///< operator of a node, with its domain if that is not ONNX's
    std::size_t nodes = 1;
    std::vector<std::string> outputs = {};  ///< tensors; for a group those of its last node
    /// Elements and bytes of parameters, each counted at its first reader. A node that holds graphs
    /// includes their weights.
    std::int64_t parameters = 0;
    double parameter_bytes = 0;
    Cost cost = {};
    /// Nodes whose work is missing, or partly missing, in `cost`: they have dynamic shapes, hold
    /// graphs of their own, or are of an unknown operator.
    std::size_t incomplete = 0;
    std::string reason = {};  ///< reason for the first such node
  };
  struct Tensor {
    onnx::Type type;  ///< with the names of open dimensions: "float32 Nx10"
    ValueDesc desc;   ///< for the given sizes; of kind none, or with unknown sizes, if known only
                      ///< at run time
  };
  std::vector<Part> nodes;                             ///< in the order of the graph
  Part total;                                          ///< its outputs are the network's
  std::map<std::string, Tensor, std::less<>> tensors;  ///< all except constants
};

/// Throws: as `input_descs`; what operators throw for shapes that do not fit.
[[nodiscard]] NetworkSummary summarise(const Network& network, const OpenSizes& sizes = {});

/// Grouping of nodes; layers as in `profile_records`.
enum class SummaryBy { node, layer, operator_type };
/// Name of the part that contains a node.
[[nodiscard]] std::string part_name(const NetworkSummary::Part& node, SummaryBy by);
/// Groups the nodes; parts are in the order of their first nodes.
[[nodiscard]] std::vector<NetworkSummary::Part> parts_of(const NetworkSummary& summary,
                                                         SummaryBy by);

/// One row per part and one for the total: type of the last output, parameters, FLOP, bytes, share
/// of the FLOP. Numbers have SI prefixes if `format` is for people.
[[nodiscard]] TextTable to_table(const NetworkSummary& summary, SummaryBy by, Format format);

}  // namespace d5

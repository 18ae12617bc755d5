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

/// What a network is made of, and the work of one forward run, told without running it.
///
///     const NetworkSummary summary = summarise(network, {.batch = 64});
///     for (const auto& part : parts_of(summary, SummaryBy::layer)) use(part.name, part.cost);
///
/// Units: bytes; FLOP as `Operator::cost` counts them.
struct NetworkSummary {
  /// A node, or what several have in common; the whole network.
  struct Part {
    std::string name;  ///< the node's (without one: its first output), the layer's, the operator's
    std::string op_type = {};  ///< of a node, with its domain if that is not ONNX's
    std::size_t nodes = 1;
    std::vector<std::string> outputs = {};  ///< tensors; of several nodes those of the last
    /// Elements and bytes of parameters, each counted where it is read first; of a node that holds
    /// graphs also of the weights in these.
    std::int64_t parameters = 0;
    double parameter_bytes = 0;
    Cost cost = {};
    /// Nodes whose work is not (or not all) in `cost`: only running tells their shapes, they hold
    /// graphs of their own, or nobody knows their operator.
    std::size_t incomplete = 0;
    std::string reason = {};  ///< why, of the first such node
  };
  struct Tensor {
    onnx::Type type;  ///< with the names of sizes that the model leaves open: "float32 Nx10"
    ValueDesc desc;   ///< for the sizes given; of kind none, or with unknown sizes, where only
                      ///< running tells
  };
  std::vector<Part> nodes;                             ///< in the graph's order
  Part total;                                          ///< its outputs are the network's
  std::map<std::string, Tensor, std::less<>> tensors;  ///< all but constants
};

/// Throws: as `input_descs`; what operators throw for shapes that do not fit.
[[nodiscard]] NetworkSummary summarise(const Network& network, const OpenSizes& sizes = {});

/// Layers are those of `profile_records`.
enum class SummaryBy { node, layer, operator_type };
/// Of the part that a node is in.
[[nodiscard]] std::string part_name(const NetworkSummary::Part& node, SummaryBy by);
/// The nodes put together, in the order of the first of each.
[[nodiscard]] std::vector<NetworkSummary::Part> parts_of(const NetworkSummary& summary,
                                                         SummaryBy by);

/// A row a part and one for the total: type of the last output, parameters, FLOP, bytes, share of
/// the FLOP. Numbers have prefixes where `format` is for people.
[[nodiscard]] TextTable to_table(const NetworkSummary& summary, SummaryBy by, Format format);

}  // namespace d5

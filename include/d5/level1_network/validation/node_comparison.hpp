// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Makes an executor of any kind for a network that is its own.
using MakeExecutor = std::function<std::shared_ptr<GraphExecutor>(Network)>;

struct NodeComparisonOptions {
  std::optional<ForwardTolerance> tolerance = {};  ///< as of `test_executor`
  /// Of what nodes write, about: as many nodes are compared in one run as stay below it, which
  /// holds some eight times as much. The fewer there are, the more runs.
  std::size_t piece_bytes = std::size_t{64} << 20;
  Interrupt interrupt = {};
};

/// Which node of a network answers otherwise than in the reference. Two records of each node, in
/// the order in which they run, of its output that differs most:
///
/// - "accumulated_error": everything before it ran in `subject` as well. The condition "inputs"
///   says whether all that it read agreed: "agree" or "differ".
/// - "own_error": it ran alone, on the values that the reference has there. This one fails where
///   the node is wrong, the other one also where it inherits what another did.
///
/// Where no node differs and the whole does, one record more, "whole_error": `reduce_network` tells
/// which nodes together make it.
///
/// Each is judged as `test_executor` judges a network. Conditions: "node" (an unnamed one by its
/// first output), "operator", "place" (counted from 1). The nodes of a graph that a node holds come
/// before it, by their path ("If_0/then_branch/Conv_3"), on what the graph is given when it first
/// runs: the branch that an If takes, the first iteration of Loop, Scan and SequenceMap.
/// Values that are outputs are not overwritten: what only a plan that overwrites does is not seen.
///
///     const auto records = compare_nodes(network, in("torch"), in("reference"), inputs);
///     std::cout << node_comparison_tables(records, Format::table);
///
/// Throws: Interrupted, between two nodes; every other error is in the records of nodes.
[[nodiscard]] std::vector<Measurement> compare_nodes(const Network& network,
                                                     const MakeExecutor& subject,
                                                     const MakeExecutor& reference,
                                                     const ValueMap& inputs,
                                                     const NodeComparisonOptions& options = {});

/// Among `records`, the first that failed although all that the node read agreed; null if none did.
[[nodiscard]] const Measurement* first_to_differ(std::span<const Measurement> records);

/// Whether `compare_nodes` made it.
[[nodiscard]] bool is_node_comparison(const Measurement& record);

/// For people, of each network in each framework: the first node to differ, and a table of those
/// whose own error is largest.
/// Throws: ValueError for a format that is no table.
[[nodiscard]] std::string node_comparison_tables(const std::vector<Measurement>& records,
                                                 Format format);

}  // namespace d5

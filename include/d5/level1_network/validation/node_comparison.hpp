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

/// Makes an executor for a network, which it owns.
using MakeExecutor = std::function<std::shared_ptr<GraphExecutor>(Network)>;

struct NodeComparisonOptions {
  std::optional<ForwardTolerance> tolerance = {};  ///< as in `test_executor`
  /// Approximate limit of the outputs that are compared in one run; the run needs some eight times
  /// as much memory. A lower limit takes more runs.
  std::size_t piece_bytes = std::size_t{64} << 20;
  Interrupt interrupt = {};
};

/// Finds the node of a network that differs from the reference. Two records per node, in execution
/// order, each for the output that differs most:
///
/// - "accumulated_error": everything before the node ran in `subject` as well. The condition
/// "inputs"
///   says whether all values that it read agreed: "agree" or "differ".
/// - "own_error": the node ran alone, on the reference's values. This record fails if the node is
///   wrong; the other one also fails if an earlier node was.
///
/// If no node differs but the whole network does, there is one more record, "whole_error";
/// `reduce_network` then finds the nodes that cause it together.
///
/// Each is judged as `test_executor` judges a network. Conditions: "node" (its name or first
/// output), "operator", "place" (counted from 1). Nodes of a graph that a node holds come before
/// it, named by their path ("If_0/then_branch/Conv_3"). They run on the values of the graph's first
/// run: the branch that an If takes, the first iteration of Loop, Scan and SequenceMap. Outputs are
/// not overwritten, so faults of a plan that reuses memory are not seen.
///
///     const auto records = compare_nodes(network, in("torch"), in("reference"), inputs);
///     std::cout << node_comparison_tables(records, Format::table);
///
/// Throws: Interrupted, between two nodes; every other error becomes a node's record.
[[nodiscard]] std::vector<Measurement> compare_nodes(const Network& network,
                                                     const MakeExecutor& subject,
                                                     const MakeExecutor& reference,
                                                     const ValueMap& inputs,
                                                     const NodeComparisonOptions& options = {});

/// The first of `records` that failed although all inputs of the node agreed; null if there is
/// none.
[[nodiscard]] const Measurement* first_to_differ(std::span<const Measurement> records);

/// Whether the record is one of `compare_nodes`.
[[nodiscard]] bool is_node_comparison(const Measurement& record);

/// Tables for people, one for each network and framework: the first node to differ, and the nodes
/// with the largest own error. Throws: ValueError for a format that is not a table.
[[nodiscard]] std::string node_comparison_tables(const std::vector<Measurement>& records,
                                                 Format format);

}  // namespace d5

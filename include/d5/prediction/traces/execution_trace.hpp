// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {

/// What one rank did in a step, recorded by another program: a graph with recorded times.
/// File format: docs/reference/file_formats.md, "Execution trace".
///
/// Data dependencies are edges. Control dependencies are edges if each of them names a node of the
/// trace and none closes a cycle; otherwise all of them are attributes only, and a note says so.
/// Operations keep every field and attribute of their node (`chakra.id`, `chakra.inputs.shapes`,
/// `rf_id`). A collective without `comm_size` is the host's call of one: computation.
struct ChakraTrace {
  OperationGraph graph;                      ///< times as recorded; communication has no rule
  std::vector<TraceArgument> metadata = {};  ///< values for the whole trace
  std::vector<std::string> notes = {};       ///< what the graph leaves out, and why; empty: nothing
};

/// Reads a Chakra execution trace (MLCommons), as ASTRA-sim does: PREFIX.RANK.et, of one rank.
///
///     const ChakraTrace trace = read_execution_trace("resnet.0.et");
///     const auto points = predict_execution_trace(
///         trace, {.cluster = load_cluster_description("h100-pod")}, std::vector{8, 64});
///
/// Throws: IoError; FormatError (place, given, expected) for a damaged file, a node that stands
/// twice, a cycle of data dependencies, and fields that the schema lacks.
[[nodiscard]] ChakraTrace read_execution_trace(const std::string& path);
/// `file` gives the rank, and is the name for messages. Throws: FormatError.
[[nodiscard]] ChakraTrace execution_trace_from_chakra(std::string_view bytes,
                                                      const std::string& file);

/// Writes a Chakra execution trace, also of a graph of d5's own; the file is written beside `path`,
/// then renamed. Chakra's times are whole microseconds: others are kept in the attribute
/// `d5_seconds`, too. Reading the file again gives an equal graph.
/// Throws: IoError; ValueError for a time above 35 years, and for edited attributes that the schema
/// does not take.
void write_execution_trace(const ChakraTrace& trace, const std::string& path);
[[nodiscard]] std::string to_chakra(const ChakraTrace& trace);

/// Nodes and recorded time of each kind and lane, dependencies, and the time of a replay.
[[nodiscard]] TextTable execution_trace_table(const ChakraTrace& trace);

/// The trace on `ranks` ranks of the plan's cluster: communication with a known number of bytes
/// takes the time of `closed_cost`, everything else `compute_factor` times its own. Each collective
/// is among all ranks; an all-reduce is by the scheme's `all_reduce`.
///
/// Throws: as `closed_seconds` and `expect_places`; ValueError for a strategy that changes more
/// than the cluster and the speed of computation: a trace has its own messages.
[[nodiscard]] OperationGraph graph_on_cluster(const ChakraTrace& trace, int ranks,
                                              const PlannedTraining& plan);

/// Predicts the step on each number of ranks by replaying `graph_on_cluster`. Exposed communication
/// is the step minus the one in which communication takes no time. `batch` of the plan is the
/// samples of a rank's step. Throws: as `graph_on_cluster`.
[[nodiscard]] std::vector<PredictedPoint> predict_execution_trace(const ChakraTrace& trace,
                                                                  const PlannedTraining& plan,
                                                                  std::span<const int> ranks);

}  // namespace d5

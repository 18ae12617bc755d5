// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

/// JSON text of a graph. File format: docs/reference/file_formats.md, "Graph of operations". Ids
/// are renumbered if operations were removed.
[[nodiscard]] std::string to_json(const OperationGraph& graph);
/// `file` is the name for messages. Throws: FormatError (place, given, expected; newer schemas are
/// refused); ValueError for a cycle.
[[nodiscard]] OperationGraph operation_graph_from_json(const std::string& text,
                                                       const std::string& file);
/// Writes DOT, SVG, or otherwise JSON, by the extension of `path`. The file is written beside
/// `path`, then renamed.
/// Throws: IoError; as `to_svg`.
void write_operation_graph(const OperationGraph& graph, const std::string& path);
/// Throws: as `operation_graph_from_json`; IoError.
[[nodiscard]] OperationGraph read_operation_graph(const std::string& path);

/// Graphviz DOT: one box per operation with its name, kind and time, coloured by lane.
[[nodiscard]] std::string to_dot(const OperationGraph& graph);
/// A self-contained SVG with the layers top to bottom, like `to_svg(Network)`. Throws: Unsupported
/// for a graph too large to view.
[[nodiscard]] std::string to_svg(const OperationGraph& graph);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

/// A graph as a file. File format: docs/reference/file_formats.md, "Graph of operations". Ids are
/// counted anew where operations were removed.
[[nodiscard]] std::string to_json(const OperationGraph& graph);
/// `file` is the name for messages. Throws: FormatError (place, given, expected; newer schemas are
/// refused); ValueError for operations that wait for each other in a circle.
[[nodiscard]] OperationGraph operation_graph_from_json(const std::string& text,
                                                       const std::string& file);
/// As the file's ending says: .dot, .svg, anything else JSON. Written beside `path`, then renamed.
/// Throws: IoError; as `to_svg`.
void write_operation_graph(const OperationGraph& graph, const std::string& path);
/// Throws: as `operation_graph_from_json`; IoError.
[[nodiscard]] OperationGraph read_operation_graph(const std::string& path);

/// In Graphviz's language: `dot -Tpdf`. A box an operation: its name, kind and time, coloured by
/// lane.
[[nodiscard]] std::string to_dot(const OperationGraph& graph);
/// A file of its own: the layers top to bottom, as of `to_svg(Network)`. Throws: Unsupported for
/// a graph that nobody could look at.
[[nodiscard]] std::string to_svg(const OperationGraph& graph);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "d5/onnx/file.hpp"
#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

/// The stages of loading, in their order. Each may rely on what those before it refused, and throws
/// FormatError, Unsupported or MemoryError with the file's name.
namespace d5::onnx::detail {

/// Bytes to message; protobuf bounds the nesting of messages (100).
void parse_message(std::span<const std::byte> bytes, const Source& source,
                   google::protobuf::Message& message);

/// A graph, opset and IR versions that d5 knows; "ai.onnx" becomes "" everywhere.
/// Returns the version of each domain.
std::map<std::string, int> check_versions(::onnx::ModelProto& model, const Source& source);

/// Counts what the model becomes when its functions are inlined, before they are: nodes, nesting
/// and bytes. A function that calls itself is refused.
void check_expansion(const ::onnx::ModelProto& model, const LoadOptions& options,
                     const Source& source);

/// Puts nodes behind those whose values they read: converters append some at the end, and
/// frameworks take them in any order.
void order_nodes(::onnx::ModelProto& model);

/// Fills in what can mean one thing only where it is left out, or said twice, each with a note:
/// names of graphs, imports, outputs that are listed again.
void fill_gaps(::onnx::ModelProto& model, const Source& source);

/// Schemas, single assignment, order of nodes, names, data of tensors.
void check_graph(const ::onnx::ModelProto& model, const Source& source);

/// Replaces every call of one of the model's functions by its body.
void inline_functions(::onnx::ModelProto& model, const Source& source);

/// Numbers in attributes that no operator can mean: group 0, kernels of 2^62, negative strides.
void check_attributes(const ::onnx::ModelProto& model, const Source& source);

/// Adds the types of inner tensors to the graphs. What cannot be inferred stays open; declared
/// types that cannot be are refused.
void infer_types(::onnx::ModelProto& model, const Source& source);

/// The graph in d5's own types; frees the data of the message's initializers on the way.
[[nodiscard]] Graph read_graph(::onnx::GraphProto& proto, const std::map<std::string, int>& opsets,
                               Source& source);

/// All of them but the first.
[[nodiscard]] ModelFile read_model(::onnx::ModelProto proto, Source& source,
                                   const LoadOptions& options);

}  // namespace d5::onnx::detail

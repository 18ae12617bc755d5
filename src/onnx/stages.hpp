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

/// The stages of loading, in order. Each relies on the checks of earlier ones, and throws
/// FormatError, Unsupported or MemoryError with the file's name.
namespace d5::onnx::detail {

/// Parses the protobuf message. protobuf limits the nesting of messages (100).
void parse_message(std::span<const std::byte> bytes, const Source& source,
                   google::protobuf::Message& message);

/// Checks for a graph and supported opset and IR versions. Replaces "ai.onnx" by "" everywhere.
/// Returns the version of each domain.
std::map<std::string, int> check_versions(::onnx::ModelProto& model, const Source& source);

/// Computes the size of the model after inlining, before inlining: nodes, nesting and bytes.
/// Refuses recursive functions.
void check_expansion(const ::onnx::ModelProto& model, const LoadOptions& options,
                     const Source& source);

/// Sorts nodes topologically: converters append some at the end, and frameworks accept any order.
void order_nodes(::onnx::ModelProto& model);

/// Fills unambiguous gaps and removes duplicates, each with a note: names of graphs, imports,
/// repeated outputs.
void fill_gaps(::onnx::ModelProto& model, const Source& source);

/// Checks schemas, single assignment, order of nodes, names, data of tensors.
void check_graph(const ::onnx::ModelProto& model, const Source& source);

/// Replaces every call of one of the model's functions by its body.
void inline_functions(::onnx::ModelProto& model, const Source& source);

/// Refuses invalid numbers in attributes: group 0, kernels of 2^62, negative strides.
void check_attributes(const ::onnx::ModelProto& model, const Source& source);

/// Adds the types of inner tensors to the graphs. Types that cannot be inferred stay open;
/// impossible declared types are refused.
void infer_types(::onnx::ModelProto& model, const Source& source);

/// Converts the graph to d5's types, and frees the data of the message's initializers.
[[nodiscard]] Graph read_graph(::onnx::GraphProto& proto, const std::map<std::string, int>& opsets,
                               Source& source);

/// Runs all stages except the first.
[[nodiscard]] ModelFile read_model(::onnx::ModelProto proto, Source& source,
                                   const LoadOptions& options);

}  // namespace d5::onnx::detail

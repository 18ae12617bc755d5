// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>

#include "d5/onnx/model.hpp"

namespace d5::onnx::detail {

/// Writes an initializer: `write_tensor`, or a function that stores the data elsewhere.
using WriteInitializer =
    std::function<void(const Tensor&, const std::string& name, ::onnx::TensorProto&)>;

/// `proto` may have a remainder (`strip`), which stays with the nodes, values and initializers that
/// still exist.
void write_graph(const Graph& graph, ::onnx::GraphProto& proto, const WriteInitializer& write);

}  // namespace d5::onnx::detail

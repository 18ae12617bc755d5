// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "d5/onnx/model.hpp"

namespace d5::onnx::detail {

void write_graph(const Graph& graph, ::onnx::GraphProto& proto);

}  // namespace d5::onnx::detail

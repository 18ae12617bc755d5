// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/level0_ops/operator/places.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Whether row n of each output depends only on row n of the inputs at `batched`, and on the whole
/// of the others (rows are along dimension 0), so that the node may run on some rows at a time.
///
/// `trained`: includes forward runs of training, in which Dropout draws and a normalization may
/// depend on the whole batch. False for an unknown node.
[[nodiscard]] bool is_batch_parallel(const onnx::Node& node, Places batched,
                                     const onnx::Graph& graph, const ValueDescs& descs,
                                     bool trained);

}  // namespace d5

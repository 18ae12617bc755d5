// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/level0_ops/operator/places.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Whether the node makes row n of each output from row n of its inputs at `batched` and from the
/// whole of the others, rows being along dimension 0; so that it may run on some rows at a time.
///
/// `trained`: forward runs of training count as well, in which Dropout draws and a normalization
/// may ask the whole batch. A node that is not known to be so is not.
[[nodiscard]] bool is_batch_parallel(const onnx::Node& node, Places batched,
                                     const onnx::Graph& graph, const ValueDescs& descs,
                                     bool trained);

}  // namespace d5

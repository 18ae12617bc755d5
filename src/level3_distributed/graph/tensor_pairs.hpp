// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// A parameter that is cut into equal parts along dimension `axis`, one per rank.
struct CutParameter {
  std::string name;
  std::size_t axis = 0;
};

/// A Reshape whose target has the size of a part in dimension `dim`.
struct CutShape {
  std::size_t node = 0, dim = 0;
};

/// Linear layers (Gemm, MatMul with a parameter) cut by columns, and the next one cut by the
/// matching rows: two layers with only element-wise functions between, or query, key and value of
/// an attention and its output, cut by heads. An attention is ONNX's Attention, or nodes that
/// compute the same.
struct TensorPair {
  std::vector<std::size_t> columns;  ///< node indices
  std::size_t rows = 0;              ///< node index
  std::int64_t units = 0;            ///< number of columns of the first layer, or of heads
  std::vector<CutParameter> cuts = {};
  std::vector<CutShape> shapes = {};
  std::optional<std::size_t> attention = {};  ///< node whose attributes give the heads
};

/// All pairs in graph order; each node is in at most one. A part has the same pairs as the whole
/// network.
[[nodiscard]] std::vector<TensorPair> tensor_pairs(const Network& network);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// A parameter of which each rank has an equal part of dimension `axis`.
struct CutParameter {
  std::string name;
  std::size_t axis = 0;
};

/// A Reshape of which the dimension `dim` of the target is that of a part.
struct CutShape {
  std::size_t node = 0, dim = 0;
};

/// Linear layers (Gemm, MatMul with a parameter) of which ranks have columns, and one of which they
/// have the rows that meet them: two with nothing but functions of single elements between, or
/// query, key and value of an attention and its output, whose heads ranks share. An attention is
/// ONNX's Attention, or nodes that compute the same.
struct TensorPair {
  std::vector<std::size_t> columns;  ///< nodes, by place in the graph
  std::size_t rows = 0;              ///< likewise
  std::int64_t units = 0;            ///< that parts are of: columns of the first, or heads
  std::vector<CutParameter> cuts = {};
  std::vector<CutShape> shapes = {};
  std::optional<std::size_t> attention = {};  ///< a node whose attributes tell heads
};

/// Each node in one pair at most, in the order of the graph. Pairs of a part are those of the
/// whole.
[[nodiscard]] std::vector<TensorPair> tensor_pairs(const Network& network);

}  // namespace d5::detail

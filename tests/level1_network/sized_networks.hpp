// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

/// Networks that some sizes of their inputs do not go through.
namespace d5::testing {

/// x of NxCxHxW, half of it by pooling, twice that by repeating, and the sum of both: H and W must
/// be even.
inline Network down_and_up(std::vector<onnx::Dim> dims) {
  Network network("down_and_up");
  network.add_input("x", DType::float32, std::move(dims));
  network.add_constant("twice", Tensor::of<float>({4}, {1, 1, 2, 2}));
  network.add_node("MaxPool", {"x"}, {"half"},
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                    {"strides", std::vector<std::int64_t>{2, 2}}},
                   "pool");
  network.add_node("Resize", {"half", "", "twice"}, {"whole"}, {{"mode", std::string("nearest")}});
  network.add_node("Add", {"x", "whole"}, {"y"}, {}, "sum");
  network.add_output("y");
  return network;
}

}  // namespace d5::testing

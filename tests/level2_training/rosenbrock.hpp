// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::test {

/// loss = sum over i of 100 (w[i+1] - w[i]^2)^2 + (1 - w[i])^2, a network of one parameter in
/// float64: a bent valley whose ground is at ones. Source: Rosenbrock (1960).
inline std::unique_ptr<GraphExecutor> rosenbrock(const std::vector<double>& start) {
  const auto n = std::int64_t(start.size());
  Network network("rosenbrock");
  network.add_parameter("w", Tensor::vector(start));
  const auto slice = [&](const std::string& name, std::int64_t begin) {
    network.add_constant(name + "_begin", Tensor::vector<std::int64_t>({begin}));
    network.add_constant(name + "_end", Tensor::vector<std::int64_t>({begin + n - 1}));
    network.add_node("Slice", {"w", name + "_begin", name + "_end"}, {name});
  };
  slice("here", 0);
  slice("next", 1);
  network.add_constant("one", Tensor::scalar(1.0));
  network.add_constant("hundred", Tensor::scalar(100.0));
  network.add_node("Mul", {"here", "here"}, {"square"});
  network.add_node("Sub", {"next", "square"}, {"height"});
  network.add_node("Mul", {"height", "height"}, {"height_square"});
  network.add_node("Mul", {"hundred", "height_square"}, {"wall"});
  network.add_node("Sub", {"one", "here"}, {"way"});
  network.add_node("Mul", {"way", "way"}, {"ground"});
  network.add_node("Add", {"wall", "ground"}, {"sum"});
  network.add_node("ReduceSum", {"sum"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return make_executor(std::move(network));
}

}  // namespace d5::test

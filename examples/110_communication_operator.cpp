// SPDX-License-Identifier: Apache-2.0
// Custom operators that communicate with other ranks,
// 110_communication_operator/averaged_gradient.cpp. One such operator behind each parameter makes a
// plain optimizer data-parallel.
//
//   mpirun -np 2 build/release/examples/example_110_communication_operator
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "d5/d5.hpp"

namespace {

/// loss = mean((x w - y)^2)
d5::Network line() {
  using namespace d5;
  Network network("line");
  network.add_input("x", DType::float32, {4, 1});
  network.add_input("y", DType::float32, {4, 1});
  network.add_parameter("w", Tensor::zeros(DType::float32, {1, 1}));
  network.add_node("MatMul", {"x", "w"}, {"prediction"});
  network.add_node("Sub", {"prediction", "y"}, {"error"});
  network.add_node("Mul", {"error", "error"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

/// The same as the transform `dsgd`, with an operator of your own.
void average_gradients(d5::Network& network) {
  std::vector<std::string> names;
  for (const d5::Parameter& parameter : network.parameters()) names.push_back(parameter.name);
  for (const std::string& name : names) {
    d5::onnx::Node node;
    node.op_type = "AveragedGradient";
    node.domain = "example";
    node.opset = 1;
    node.inputs = {name};
    node.outputs = {network.unused_name(name + ".averaged")};
    network.insert_node(name, std::move(node));
  }
}

}  // namespace

int main(int count, char** arguments) {
  using namespace d5;
  const std::filesystem::path folder =
      count > 1 ? arguments[1] : "examples/110_communication_operator";
  add_communication_operators();  // and operators may ask for ranks
  load_custom_operators(build_operators((folder / "averaged_gradient.cpp").string()));

  const auto ranks = world();
  Network network = line();
  average_gradients(network);
  const auto optimizer =
      optimizers().at("sgd").make(make_executor(network), "loss", {{"learning_rate", 0.1}});

  // Each rank has different points, whose separate solutions are the slopes 1, 2, ...
  const Tensor x = Tensor::of<float>({4, 1}, {-1, 0, 1, 2});
  Tensor y = x.copy();
  ranks->scale_local(y, ranks->rank() + 1);
  for (int step = 0; step < 100; ++step) {
    (void)optimizer->step({.values = {{"x", x}, {"y", y}}, .size = 4});
  }
  const float slope = optimizer->executor().network().parameter("w").value.item<float>();
  const float expected = float(ranks->size() + 1) / 2;  // for all points together
  if (ranks->rank() == 0) {
    std::cout << ranks->size() << " ranks found the slope " << slope << "\n";
  }
  return std::abs(slope - expected) < 1e-4F ? 0 : 1;
}

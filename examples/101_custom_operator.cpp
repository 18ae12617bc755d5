// SPDX-License-Identifier: Apache-2.0
// A custom operator, 101_custom_operator/log_cosh.cpp: compiled, checked, and trained in the graphs
// of every available framework. The same in Python: 101_custom_operator.py.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "d5/d5.hpp"

namespace {

/// loss = mean(operator(x w - y)): a line through points, with a smooth absolute error.
d5::Network fit(const std::string& domain, const std::string& op) {
  using namespace d5;
  Network network("fit");
  network.add_input("x", DType::float32, {4, 1});
  network.add_input("y", DType::float32, {4, 1});
  network.add_parameter("w", Tensor::zeros(DType::float32, {1, 1}));
  network.add_node("MatMul", {"x", "w"}, {"prediction"});
  network.add_node("Sub", {"prediction", "y"}, {"error"});
  network.add_node(op, {"error"}, {"errors"}).domain = domain;
  network.add_node("ReduceMean", {"errors"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

/// Whether 100 steps find the slope 3 of y = 3 x.
bool trains(const std::string& framework, d5::Network network) {
  using namespace d5;
  Tensor x = Tensor::zeros(DType::float32, {4, 1}), y = Tensor::zeros(DType::float32, {4, 1});
  for (int i = 0; i < 4; ++i) {
    x.span<float>()[std::size_t(i)] = float(i - 1);
    y.span<float>()[std::size_t(i)] = 3 * float(i - 1);
  }
  const auto optimizer = optimizers().at("sgd").make(open_executor(framework, std::move(network)),
                                                     "loss", {{"learning_rate", 0.5}});
  for (int step = 0; step < 100; ++step) {
    (void)optimizer->step({.values = {{"x", x}, {"y", y}}, .size = 4});
  }
  const float slope = optimizer->executor().network().parameter("w").value.span<float>()[0];
  std::cout << framework << ": slope " << slope << "\n";
  return std::abs(slope - 3) < 1e-3F;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace d5;
  const std::filesystem::path folder = count > 1 ? arguments[1] : "examples/101_custom_operator";
  load_custom_operators(build_operators((folder / "log_cosh.cpp").string()));
  const auto rows = test_gradient(parse_case("example.LogCosh 3x4 scale=2"), "reference");
  std::cout << to_table(rows);
  bool good = exit_status(rows) == 0 && trains("reference", fit("example", "LogCosh"));

  for (const auto& info : frameworks()) {
    if (info.name != "torch") continue;
    // A function of torch is also an operator, here in the reference's graph.
    custom_op_from_native("torch", "aten::softplus");
    good = exit_status(test_gradient(parse_case("aten.softplus 3x4"), "torch")) == 0 && good;
    good = trains("reference", fit("aten", "square")) && good;
    good = trains("torch", fit("example", "LogCosh")) && good;        // d5's plan
    good = trains("torch:torch", fit("example", "LogCosh")) && good;  // torch's own executor
  }
  return good ? 0 : 1;
}

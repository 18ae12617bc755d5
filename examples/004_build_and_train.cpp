// SPDX-License-Identifier: Apache-2.0
// Builds a network layer by layer, and trains it to classify points inside and outside a circle.
#include <cmath>
#include <d5/d5.hpp>
#include <iostream>

namespace {

d5::Tensor drawn(const d5::Shape& shape, double deviation, d5::RandomStream& random) {
  d5::Tensor tensor = d5::Tensor::empty(d5::DType::float32, shape);
  for (float& element : tensor.span<float>()) element = float(deviation) * random.normal();
  return tensor;
}

/// A classifier with two inputs, `width` hidden units and two classes.
d5::Network classifier(std::int64_t width, d5::RandomStream& random) {
  d5::Network network("circle");
  network.add_input("point", d5::DType::float32, {"N", std::int64_t{2}});
  network.add_input("label", d5::DType::int64, {"N"});
  network.add_parameter("w1", drawn({2, width}, 1, random));
  network.add_parameter("b1", drawn({width}, 1, random));
  network.add_parameter("w2", drawn({width, 2}, 1 / std::sqrt(double(width)), random));
  network.add_parameter("b2", d5::Tensor::zeros(d5::DType::float32, {2}));
  network.add_node("Gemm", {"point", "w1", "b1"}, {"h"});
  network.add_node("Relu", {"h"}, {"r"});
  network.add_node("Gemm", {"r", "w2", "b2"}, {"score"});
  network.add_node("SoftmaxCrossEntropyLoss", {"score", "label"}, {"loss"});
  network.add_output("score");
  network.add_output("loss");
  return network;
}

d5::ValueMap points(std::int64_t count, d5::RandomStream& random) {
  d5::Tensor point = drawn({count, 2}, 1, random);
  d5::Tensor label = d5::Tensor::empty(d5::DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = point.data<float>()[2 * i], y = point.data<float>()[2 * i + 1];
    label.data<std::int64_t>()[i] = x * x + y * y < 1 ? 1 : 0;
  }
  return {{"point", point}, {"label", label}};
}

}  // namespace

int main() {
  d5::RandomStream random(1);
  const std::shared_ptr<d5::GraphExecutor> executor = d5::make_executor(classifier(32, random));
  const auto adam = d5::optimizers().at("adam").make(executor, "loss", {{"learning_rate", 0.02}});
  for (int step = 0; step < 300; ++step) adam->step({points(64, random)});

  const d5::ValueMap test = points(1000, random);
  const auto& outputs = executor->inference(test);
  const float* score = outputs.at("score").tensor().data<float>();
  int right = 0;
  for (int i = 0; i < 1000; ++i) {
    const int guess = score[2 * i + 1] > score[2 * i] ? 1 : 0;
    right += guess == test.at("label").tensor().data<std::int64_t>()[i] ? 1 : 0;
  }
  std::cout << right << " of 1000 right\n";
  executor->network().save("circle.onnx");  // for any other tool
  return right > 900 ? 0 : 1;
}

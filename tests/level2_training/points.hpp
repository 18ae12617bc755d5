// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::test {

/// Points around three corners of a triangle, in order of their class: easy to separate.
inline std::shared_ptr<const Dataset> points(std::int64_t count, std::uint64_t seed = 1) {
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  RandomStream random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % 3;
    const double angle = 2 * std::numbers::pi * double(label) / 3;
    x.push_back(float(std::cos(angle)) + 0.3f * random.normal());
    x.push_back(float(std::sin(angle)) + 0.3f * random.normal());
    labels.push_back(label);
  }
  return std::make_shared<TensorDataset>(
      "points", std::vector<std::pair<std::string, Tensor>>{
                    {"x", Tensor::of<float>({count, 2}, std::span<const float>(x))},
                    {"label", Tensor::vector(labels)}});
}

/// A sampler of that many points, by the name of its order.
inline std::shared_ptr<Sampler> points_sampler(std::int64_t count, std::int64_t batch_size,
                                               const std::string& order = "shuffle") {
  return samplers().at(order).make(points(count), {{"batch_size", batch_size}, {"seed", 3}});
}

/// Two layers that tell the three classes apart; `dropped` of the inner values are, at random.
inline Network points_network(std::uint64_t seed = 1, float dropped = 0) {
  RandomStream random(seed);
  const auto normal = [&](Shape shape) {
    Tensor tensor = Tensor::empty(DType::float32, shape);
    for (float& value : tensor.span<float>()) value = 0.5f * random.normal();
    return tensor;
  };
  Network network("points");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_input("label", DType::int64, {"N"});
  network.add_parameter("w1", normal({2, 8}));
  network.add_parameter("b1", normal({8}));
  network.add_parameter("w2", normal({8, 3}));
  network.add_parameter("b2", normal({3}));
  network.add_node("Gemm", {"x", "w1", "b1"}, {"h"});
  network.add_node("Relu", {"h"}, {"r"});
  if (dropped > 0) {
    network.add_constant("ratio", Tensor::scalar(dropped));
    network.add_constant("training", Tensor::scalar(true));
    network.add_node("Dropout", {"r", "ratio", "training"}, {"d"});
  }
  network.add_node("Gemm", {dropped > 0 ? "d" : "r", "w2", "b2"}, {"logits"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  network.add_output("logits");
  network.add_output("loss");
  return network;
}

inline std::shared_ptr<Optimizer> points_optimizer(const std::string& name,
                                                   const Settings& settings = {},
                                                   float dropped = 0) {
  return optimizers().at(name).make(make_executor(points_network(1, dropped)), "loss", settings);
}

/// All parameters, one after another.
inline std::vector<float> parameters(Optimizer& optimizer) {
  std::vector<float> all;
  for (const char* name : {"w1", "b1", "w2", "b2"}) {
    const auto values = optimizer.executor().network().parameter(name).value.span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace d5::test

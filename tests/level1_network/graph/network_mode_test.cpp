// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/network_mode.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

/// x -> BatchNormalization -> y, as training or inference would write it.
Network normalised(bool training) {
  Network network("normalised");
  network.add_input("x", DType::float32, {"N", std::int64_t{1}});
  network.add_parameter("scale", Tensor::vector<float>({1}));
  network.add_parameter("shift", Tensor::vector<float>({0}));
  network.add_constant("mean", Tensor::vector<float>({0}));
  network.add_constant("variance", Tensor::vector<float>({1}));
  const std::vector<std::string> inputs{"x", "scale", "shift", "mean", "variance"};
  if (training) {
    network.add_node("BatchNormalization", inputs, {"y", "new_mean", "new_variance"},
                     {{"training_mode", std::int64_t{1}}, {"epsilon", 0.0f}});
    network.add_update("mean", "new_mean");
    network.add_update("variance", "new_variance");
  } else {
    network.add_node("BatchNormalization", inputs, {"y"}, {{"epsilon", 0.0f}});
  }
  network.add_output("y");
  return network;
}

const ValueMap kBatch{{"x", Tensor::of<float>({2, 1}, {2, 6})}};  // mean 4, variance 4

std::vector<float> result(GraphExecutor& executor, const std::string& output = "y") {
  const auto y = executor.inference(kBatch).at(output).tensor().span<float>();
  return {y.begin(), y.end()};
}
float running_mean(GraphExecutor& executor) {
  return executor.network().fetch("mean").data<float>()[0];
}

/// x -> Dropout(0.5) -> y, sum of y.
Network dropping(bool written) {
  Network network("dropping");
  network.add_input("x", DType::float32, {"N"});
  network.add_constant("ratio", Tensor::scalar(0.5f));
  network.add_constant("training", Tensor::scalar(written));
  network.add_node("Dropout", {"x", "ratio", "training"}, {"y"});
  network.add_output("y");
  return network;
}
std::size_t dropped(GraphExecutor& executor) {
  const auto y = executor.inference({{"x", Tensor::of<float>({1000}, std::vector<float>(1000, 1))}})
                     .at("y")
                     .tensor()
                     .span<float>();
  return std::size_t(std::count(y.begin(), y.end(), 0.0f));
}

}  // namespace

TEST_CASE("beside one that is written for training, a normalisation for inference is frozen") {
  Network network = normalised(true);
  network.add_constant("frozen_mean", Tensor::vector<float>({1}));
  network.add_constant("frozen_variance", Tensor::vector<float>({1}));
  network.add_node("BatchNormalization", {"x", "scale", "shift", "frozen_mean", "frozen_variance"},
                   {"z"}, {{"epsilon", 0.0f}});
  network.add_output("z");
  const auto executor = make_executor(network);
  executor->set_mode(NetworkMode::training);
  CHECK(result(*executor) == std::vector<float>{-1, 1});
  CHECK(result(*executor, "z") == std::vector<float>{1, 5});
  CHECK(executor->network().fetch("frozen_mean").data<float>()[0] == 1);
}

TEST_CASE("training normalises with the batch's statistics, inference with the running ones") {
  for (const bool written : {true, false}) {
    INFO("written for training: " << written);
    const auto executor = make_executor(normalised(written));
    executor->set_mode(NetworkMode::training);
    CHECK(executor->mode() == NetworkMode::training);
    CHECK(result(*executor) == std::vector{-1.0f, 1.0f});
    CHECK(running_mean(*executor) == Approx(0.1 * 4));  // momentum 0.9
    executor->set_mode(NetworkMode::inference);
    const float mean = running_mean(*executor);
    const float deviation = std::sqrt(executor->network().fetch("variance").data<float>()[0]);
    for (int run = 0; run < 2; ++run) {
      const auto y = result(*executor);
      CHECK(y[0] == Approx((2 - mean) / deviation));
      CHECK(y[1] == Approx((6 - mean) / deviation));
    }
    CHECK(running_mean(*executor) == mean);  // inference moves nothing
    executor->set_mode(NetworkMode::as_written);
    CHECK((result(*executor)[0] == -1.0f) == written);
  }
}

TEST_CASE("inference sees what training has made of the statistics, each time") {
  const auto executor = make_executor(normalised(false));
  float before = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    executor->set_mode(NetworkMode::training);
    (void)result(*executor);
    executor->set_mode(NetworkMode::inference);
    const float y = result(*executor)[0];
    CHECK(y != before);
    before = y;
  }
}

TEST_CASE("elements are dropped in training alone") {
  for (const bool written : {true, false}) {
    const auto executor = make_executor(dropping(written));
    CHECK((dropped(*executor) > 0) == written);
    executor->set_mode(NetworkMode::inference);
    CHECK(dropped(*executor) == 0);
    executor->set_mode(NetworkMode::training);
    CHECK(dropped(*executor) > 400);
    CHECK(dropped(*executor) < 600);
  }
}

TEST_CASE("switching compiles each mode once, and a running statistic that is fed is no edit") {
  const auto executor = make_executor(normalised(true));
  Network& network = executor->network();
  const auto revision = network.revision();
  for (int i = 0; i < 3; ++i) {
    const ModeScope inference(*executor, NetworkMode::inference);
    (void)result(*executor);
    network.feed("mean", Tensor::vector<float>({float(i)}));
    CHECK(result(*executor)[0] == Approx(2.0f - float(i)));
  }
  CHECK(network.revision() == revision);
  CHECK(executor->mode() == NetworkMode::as_written);
}

TEST_CASE("new statistics that somebody reads are the old ones in inference") {
  Network network = normalised(true);
  network.add_node("Neg", {"new_mean"}, {"minus"});
  network.add_output("minus");
  network.feed("mean", Tensor::vector<float>({3}));
  const auto executor = make_executor(network);
  CHECK(result(*executor, "minus") == std::vector{-(0.9f * 3 + 0.1f * 4)});
  network.feed("mean", Tensor::vector<float>({3}));
  executor->set_mode(NetworkMode::inference);
  CHECK(result(*executor, "minus") == std::vector{-3.0f});
}

TEST_CASE("a mode is called by its name") {
  CHECK(network_mode_from_name("training") == NetworkMode::training);
  CHECK_THROWS_WITH(network_mode_from_name("train"), Catch::Contains("training"));
}

TEST_CASE("graphs that nodes hold follow the mode") {
  auto inner = std::make_shared<onnx::Graph>();
  inner->name = "then";
  onnx::Node dropout;
  dropout.op_type = "Dropout";
  dropout.opset = 22;
  dropout.inputs = {"x", "ratio"};
  dropout.outputs = {"dropped"};
  inner->nodes = {dropout};
  inner->outputs = {{"dropped", {}}};
  Network network("choice");
  network.add_input("x", DType::float32, {"N"});
  network.add_constant("ratio", Tensor::scalar(0.5f));
  network.add_constant("yes", Tensor::scalar(true));
  const std::shared_ptr<const onnx::Graph> branch = inner;
  network.add_node("If", {"yes"}, {"y"}, {{"then_branch", branch}, {"else_branch", branch}});
  network.add_output("y");
  const auto executor = make_executor(network);
  CHECK(dropped(*executor) == 0);
  executor->set_mode(NetworkMode::training);
  CHECK(dropped(*executor) > 400);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/losses/loss.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/training/frozen_parameters.hpp"

using namespace d5;

namespace {

/// y = x w, whose gradient by w is that of the loss by y where x is one.
Network line(std::vector<onnx::Dim> dims = {"N", 1}) {
  Network network("line");
  network.add_input("x", DType::float32, std::move(dims));
  network.add_parameter("w", Tensor::scalar(1.0f));
  network.add_node("Mul", {"x", "w"}, {"y"});
  network.add_output("y");
  return network;
}

struct Slope {
  double loss, by_w;
};
Slope slope(const Network& network, const Tensor& x, const Tensor& label) {
  const auto executor = make_executor(network);
  const auto& outputs = executor->inference_and_backprop({{"x", x}, {"label", label}}, "loss");
  const double loss = outputs.at("loss").tensor().item<float>();
  return {loss, executor->network().parameter("w").gradient.item<float>()};
}

constexpr double kRounding = 1e-6;  // some units in the last place of numbers about 1

}  // namespace

TEST_CASE("cross-entropy is minus the logarithm of the right class's share") {
  const float three = std::log(3.0f);
  const double expected = (std::log(2.0) + std::log(4.0 / 3)) / 2;
  Network network = line({"N", 2});
  append_loss(network, "cross_entropy");
  const Tensor scores = Tensor::of<float>({2, 2}, {0, 0, 0, three});
  CHECK(slope(network, scores, Tensor::of<std::int64_t>({2}, {0, 1})).loss ==
        Approx(expected).epsilon(kRounding));

  Network places = line({"N", "T", 2});
  append_loss(places, "cross_entropy", {.target_dims = {"N", "T"}}, {{"classes_last", true}});
  CHECK(slope(places, scores.reshaped({1, 2, 2}), Tensor::of<std::int64_t>({1, 2}, {0, 1})).loss ==
        Approx(expected).epsilon(kRounding));

  Network partly = line({"N", "T", 2});
  append_loss(partly, "cross_entropy", {.target_dims = {"N", "T"}},
              {{"classes_last", true}, {"ignored", 0}});
  CHECK(slope(partly, scores.reshaped({1, 2, 2}), Tensor::of<std::int64_t>({1, 2}, {0, 1})).loss ==
        Approx(std::log(4.0 / 3)).epsilon(kRounding));
}

TEST_CASE("mean square error compares element with element, whatever the target's shape") {
  Network network = line();
  append_loss(network, "mse", {.target_type = DType::float32, .target_dims = {onnx::Dim{}}});
  // Broadcast, {3} beside {3, 1} would be 9 differences.
  const Slope found =
      slope(network, Tensor::of<float>({3, 1}, {1, 2, 3}), Tensor::of<float>({3}, {0, 2, 5}));
  CHECK(found.loss == Approx(5.0 / 3).epsilon(kRounding));
  CHECK(found.by_w == Approx(2.0 * (1 * 1 + 0 * 2 - 2 * 3) / 3).epsilon(kRounding));
  CHECK_THROWS_AS(
      slope(network, Tensor::of<float>({3, 1}, {1, 2, 3}), Tensor::of<float>({2}, {0, 2})),
      ShapeError);
}

TEST_CASE("binary cross-entropy keeps its digits far from 0, and its slope at 0") {
  Network network = line();
  append_loss(network, "bce");
  const auto of = [&](float score, std::int64_t target) {
    return slope(network, Tensor::of<float>({1, 1}, {score}),
                 Tensor::of<std::int64_t>({1}, {target}));
  };
  CHECK(of(0, 1).loss == Approx(std::log(2.0)).epsilon(kRounding));
  CHECK(of(20, 1).loss == Approx(std::log1p(std::exp(-20.0))).epsilon(kRounding));
  CHECK(of(-20, 0).loss == Approx(std::log1p(std::exp(-20.0))).epsilon(kRounding));
  CHECK(of(-100, 1).loss == Approx(100).epsilon(kRounding));
  CHECK(of(100, 0).loss == Approx(100).epsilon(kRounding));
  // d loss / d score = σ(score) - target; by w it counts score times, so b is added to see it at 0.
  CHECK(of(2, 0).by_w == Approx(2 / (1 + std::exp(-2.0))).epsilon(kRounding));
  Network moved("moved");
  moved.add_input("x", DType::float32, {"N", 1});
  moved.add_parameter("w", Tensor::scalar(0.0f));
  moved.add_node("Add", {"x", "w"}, {"y"});
  moved.add_output("y");
  append_loss(moved, "bce");
  for (const std::int64_t target : {0, 1}) {
    CHECK(slope(moved, Tensor::of<float>({1, 1}, {0}), Tensor::of<std::int64_t>({1}, {target}))
              .by_w == Approx(0.5 - double(target)).epsilon(kRounding));
  }
}

TEST_CASE("a loss that does not fit a network is refused, and changes nothing") {
  Network network = line();
  network.add_node("Relu", {"y"}, {"z"});
  network.add_output("z");
  CHECK_THROWS_WITH(append_loss(network, "mse"), Catch::Contains("y, z"));
  CHECK_THROWS_WITH(append_loss(network, "mse", {.output = "zz"}), Catch::Contains("known: y, z"));
  CHECK_THROWS_WITH(append_loss(network, "mes", {.output = "z"}), Catch::Contains("mse"));
  CHECK_THROWS_AS(append_loss(network, "mse", {.output = "z", .loss = "y"}), ValueError);
  CHECK_THROWS_AS(append_loss(network, "mse", {.output = "z", .target = "w"}), ValueError);
  CHECK_THROWS_AS(append_loss(network, "mse", {.output = "z"}, {{"classes_last", true}}), NotFound);
  CHECK(network.graph().nodes.size() == 2);
  CHECK(network.input_names() == std::vector<std::string>{"x"});

  onnx::Model old = line().model();
  old.opset_imports[""] = 11;
  for (auto& node : old.graph.nodes) node.opset = 11;
  Network of_old(old);
  CHECK_THROWS_WITH(append_loss(of_old, "mse"), Catch::Contains("opset 11"));
}

TEST_CASE("without its loss a network is what it was") {
  for (const std::string name : {"cross_entropy", "mse", "bce"}) {
    CAPTURE(name);
    const Network before = line({"N", 2});
    Network network = before.copy();
    append_loss(network, name, {.loss = "cost"});
    CHECK(network.input_names() == std::vector<std::string>{"x", "label"});
    const Network after = without_loss(network, "cost");
    CHECK(after.input_names() == before.input_names());
    CHECK(after.output_names() == before.output_names());
    CHECK(after.graph().nodes.size() == before.graph().nodes.size());
    CHECK(after.graph().initializers.size() == before.graph().initializers.size());
    CHECK(after.is_parameter("w"));
  }
  CHECK_THROWS_AS(without_loss(line(), "loss"), NotFound);
}

TEST_CASE("frozen parameters have no gradient until they are parameters again") {
  Network network = line();
  network.add_parameter("bias", Tensor::scalar(0.5f));
  network.add_node("Add", {"y", "bias"}, {"z"});
  network.add_output("z");
  CHECK(freeze(network, {"b*"}) == std::vector<std::string>{"bias"});
  CHECK(!network.is_parameter("bias"));
  CHECK(network.fetch("bias").item<float>() == 0.5f);
  REQUIRE(network.parameters().size() == 1);
  CHECK(network.parameters()[0].name == "w");
  CHECK_THROWS_WITH(freeze(network, {"v*"}), Catch::Contains("no parameter matches"));
  CHECK_THROWS_WITH(freeze(network, {"w"}), Catch::Contains("nothing is left to train"));
  unfreeze(network, {"bias"});
  CHECK(network.parameters().size() == 2);
  CHECK(freeze(network, {}).empty());
}

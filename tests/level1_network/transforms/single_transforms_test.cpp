// SPDX-License-Identifier: Apache-2.0
// Single transforms, on numbers that a person can check.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "tests/level1_network/transform_networks.hpp"

using namespace d5;
using namespace d5::transformed;
using Catch::Contains;

TEST_CASE("a normalization becomes a factor and an offset of the convolution before it") {
  Network network("one");
  network.add_input("x", DType::float32, std::vector<onnx::Dim>(4, std::int64_t{1}));
  network.add_parameter("w", Tensor::of<float>({1, 1, 1, 1}, {2}));
  network.add_node("Conv", {"x", "w"}, {"c"});
  const auto one = [&](const char* name, float value) {
    network.add_constant(name, Tensor::of<float>({1}, {value}));
  };
  one("scale", 3), one("shift", 5), one("mean", 1), one("variance", 4);
  network.add_node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"},
                   {{"epsilon", 0.0F}});
  network.add_output("y");
  CHECK(applied(network, {"fold-batch-norm"}).what == "folded 1 BatchNormalization into Conv");
  // y = 3 (2 x - 1) / 2 + 5
  REQUIRE(network.graph().nodes.size() == 1);
  CHECK(network.fetch("y.weight").item<float>() == 3);
  CHECK(network.fetch("y.bias").item<float>() == 3.5F);
  CHECK(network.is_parameter("y.weight"));
  CHECK(network.graph().initializers.size() == 2);  // nobody reads the others
}

TEST_CASE("a normalization that cannot be folded says why") {
  const auto left = [](const std::function<void(Network&)>& edit) {
    Network network = normalized();
    edit(network);
    return applied(network, {"fold-batch-norm"}).left;
  };
  CHECK(left([](Network&) {}).empty());
  CHECK_THAT(left([](Network& n) { n.add_node("Relu", {"c1"}, {"z"}, {}, "other"); }).at(0),
             Contains("Relu 'other' reads 'c1' too"));
  CHECK_THAT(left([](Network& n) { n.add_update("norm1.mean", "norm1.variance"); }).at(0),
             Contains("'norm1.mean' is computed, or updated by runs"));
  CHECK_THAT(left([](Network& n) { n.redirect({{"c1", "image"}}); }).at(0),
             Contains("'image' is not written by a Conv"));
  Network training = models().at("resnet-18").make({{"training", true}});
  CHECK(applied(training, {"fold-batch-norm"}).what.empty());
}

TEST_CASE("Dropout that drops in inference stays") {
  Network network("training");
  network.add_input("x", DType::float32, {std::int64_t{4}});
  network.add_constant("ratio", Tensor::scalar(0.5F));
  network.add_constant("training", Tensor::scalar(true));
  network.add_node("Dropout", {"x", "ratio", "training"}, {"y"}, {}, "drop");
  network.add_node("Dropout", {"y"}, {"z", "mask"}, {}, "masked");
  network.add_output("z");
  network.add_output("mask");
  const auto report = applied(network, {"remove-dropout"});
  CHECK(report.what.empty());
  REQUIRE(report.left.size() == 2);
  CHECK_THAT(report.left[0], Contains("Dropout 'drop': training_mode is true"));
  CHECK_THAT(report.left[1], Contains("Dropout 'masked': its mask 'mask' is read"));
}

TEST_CASE("random nodes and parameters with the same values stay apart") {
  Network network("apart");
  network.add_parameter("v", Tensor::of<float>({1}, {1}));
  network.add_parameter("w", Tensor::of<float>({1}, {1}));
  network.add_node("RandomNormal", {}, {"a"}, {{"shape", Ints{1}}});
  network.add_node("RandomNormal", {}, {"b"}, {{"shape", Ints{1}}});
  network.add_node("Sum", {"v", "w", "a", "b"}, {"y"});
  network.add_output("y");
  CHECK(applied(network, {"common-subexpressions"}).what.empty());
  CHECK(applied(network, {"constant-folding"}).what.empty());
}

TEST_CASE("a Transpose behind elementwise nodes cancels the one before them") {
  Network network = channels_last();
  CHECK(applied(network, {"cancel-transposes"}).what == "4 Transpose became 2");
  // The bias goes along the axis of the channels, and is trained as it was.
  CHECK(network.parameter("bias").value.shape() == Shape{4});
  CHECK(network.fetch("bias.as_1x4x1x1.shape").span<std::int64_t>()[1] == 4);
  Network alone("alone");
  alone.add_input("x", DType::float32, {std::int64_t{2}, std::int64_t{3}});
  alone.add_node("Transpose", {"x"}, {"t"}, {{"perm", Ints{1, 0}}});
  alone.add_node("Relu", {"t"}, {"y"});
  alone.add_output("y");
  const auto revision = alone.revision();
  CHECK(applied(alone, {"cancel-transposes"}).what.empty());
  CHECK(alone.revision() == revision);
}

TEST_CASE("graphs within nodes are transformed too, the innermost first") {
  using Graphs = std::shared_ptr<const onnx::Graph>;
  const auto node = [](const char* op_type, std::vector<std::string> inputs,
                       std::vector<std::string> outputs) {
    onnx::Node result;
    result.op_type = op_type;
    result.opset = 22;
    result.inputs = std::move(inputs);
    result.outputs = std::move(outputs);
    return result;
  };
  const auto graph_of = [](const char* name, std::vector<onnx::Node> nodes) {
    onnx::Graph graph;
    graph.name = name;
    graph.outputs = {{nodes.back().outputs.front(), {}}};
    graph.nodes = std::move(nodes);
    return graph;
  };
  onnx::Graph inner =
      graph_of("inner", {node("Abs", {"unread"}, {"dead"}), node("Dropout", {"x"}, {"dropped"}),
                         node("Neg", {"dropped"}, {"i"})});
  const Graphs simple =
      std::make_shared<onnx::Graph>(graph_of("other", {node("Abs", {"x"}, {"o"})}));
  onnx::Node held = node("If", {"positive"}, {"z"});
  held.attributes = {{"then_branch", Graphs(std::make_shared<onnx::Graph>(inner))},
                     {"else_branch", simple}};
  onnx::Graph outer = graph_of(
      "outer", {node("Add", {"two", "two"}, {"four"}), held, node("Mul", {"z", "four"}, {"t"})});
  outer.initializers = {{"two", Tensor::scalar(2.0F)}};
  const Graphs otherwise =
      std::make_shared<onnx::Graph>(graph_of("e", {node("Neg", {"x"}, {"e"})}));

  Network network("nested");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_input("positive", DType::boolean, {});
  network.add_node("Exp", {"x"}, {"unread"});
  network.add_node(
      "If", {"positive"}, {"y"},
      {{"then_branch", Graphs(std::make_shared<onnx::Graph>(outer))}, {"else_branch", otherwise}},
      "choice");
  network.add_output("y");
  const auto steps =
      apply_transforms(network, {{"remove-dropout"}, {"constant-folding"}, {"dead-code"}});
  CHECK_THAT(steps[0].report.what, Contains("in then_branch of If 'choice'") &&
                                       Contains("in then_branch of If 'z': removed 1 Dropout"));
  CHECK_THAT(steps[1].report.what, Contains("in then_branch of If 'choice': computed 1 nodes"));
  CHECK(network.graph().nodes.size() == 1);  // what only dead nodes in the graph read is gone
  const onnx::Graph after = **network.node("choice").attribute<Graphs>("then_branch");
  CHECK(after.nodes.size() == 2);
  CHECK(after.initializers.at("four").item<float>() == 4);
  CHECK(after.inputs.empty());
  for (const bool positive : {true, false}) {
    const auto executor = make_executor(network);
    const Value y = executor
                        ->inference({{"x", Tensor::of<float>({2}, {1, -3})},
                                     {"positive", Tensor::scalar(positive)}})
                        .at("y");
    CHECK(y.tensor().span<float>()[1] == (positive ? 12 : 3));  // 4 * -(-3), and -(-3)
  }
}

TEST_CASE("a network of another opset is the same network, with what it trains and updates") {
  Network network = models().at("lenet").make();
  const auto weights = network.parameters().front();
  CHECK(applied(network, {"opset", {{"version", 24}}}).what == "converted from opset 22 to 24");
  CHECK(network.model().opset_imports.at("") == 24);
  CHECK(network.parameter(weights.name).value.shape() == weights.value.shape());
  CHECK_THROWS_WITH(applied(network, {"opset", {{"version", 23}}}), Contains("is of opset 24"));
  CHECK_THROWS_AS(applied(network, {"opset", {{"version", 1000}}}), ValueError);

  Network counting("counting");
  counting.add_input("x", DType::float32, {std::int64_t{2}});
  counting.add_constant("sum", Tensor::of<float>({2}, {0, 0}));
  counting.add_node("Add", {"x", "sum"}, {"y"});
  counting.add_output("y");
  counting.add_update("sum", "y");
  CHECK_FALSE(applied(counting, {"opset"}).what.empty());
  const auto executor = make_executor(counting);
  for (int run = 1; run <= 2; ++run) {
    const Value y = executor->inference({{"x", Tensor::of<float>({2}, {1, 3})}}).at("y");
    CHECK(y.tensor().span<float>()[1] == float(3 * run));
  }
}

TEST_CASE("an attribute, a sign and an order of inputs make another node") {
  Network network("others");
  network.add_input("x", DType::float32, {std::int64_t{1}, std::int64_t{2}});
  network.add_constant("plus", Tensor::scalar(0.0F));
  network.add_constant("minus", Tensor::scalar(-0.0F));
  network.add_node("Transpose", {"x"}, {"a"}, {{"perm", Ints{0, 1}}});
  network.add_node("Transpose", {"x"}, {"b"}, {{"perm", Ints{1, 0}}});
  network.add_node("Sub", {"a", "b"}, {"c"});
  network.add_node("Sub", {"b", "a"}, {"d"});
  network.add_node("Mul", {"c", "plus"}, {"e"});
  network.add_node("Mul", {"c", "minus"}, {"f"});
  for (const char* output : {"d", "e", "f"}) network.add_output(output);
  CHECK(applied(network, {"common-subexpressions"}).what.empty());
}

TEST_CASE("a result that is too large for a file stays computed") {
  Network network("large");
  network.add_constant("shape", Tensor::vector<std::int64_t>({100}));
  network.add_node("ConstantOfShape", {"shape"}, {"zeros"}, {}, "fill");
  network.add_node("Identity", {"zeros"}, {"y"});
  network.add_output("y");
  const auto report = applied(network, {"constant-folding", {{"most_bytes", 399}}});
  CHECK(report.what.empty());
  CHECK_THAT(report.left.at(0), Contains("ConstantOfShape 'fill': its outputs are 400 bytes"));
  CHECK(applied(network, {"constant-folding", {{"most_bytes", 400}}}).what == "computed 1 nodes");
  CHECK(network.fetch("zeros").shape() == Shape{100});
}

TEST_CASE("half precision converts what operators have, and casts where they have not") {
  Network network("resized");
  network.add_input("x", DType::float32, std::vector<onnx::Dim>{std::int64_t{2}});
  network.add_parameter("w", Tensor::of<float>({2}, {1, 0.1F}));
  network.add_constant("scales", Tensor::of<float>({1}, {2}));
  network.add_node("Mul", {"x", "w"}, {"m"});
  network.add_node("Resize", {"m", "", "scales"}, {"y"});
  network.add_output("y");
  CHECK(applied(network, {"half-precision"}).what ==
        "made 2 nodes, 1 parameters and constants float16, with 2 casts");
  CHECK(network.fetch("w").dtype() == DType::float16);
  CHECK(network.is_parameter("w"));
  CHECK(network.fetch("scales").dtype() == DType::float32);  // ONNX has Resize's in no other
  const auto executor = make_executor(network);
  const auto y = executor->inference({{"x", Tensor::of<float>({2}, {3, 1})}}).at("y");
  // 0.1 in float16 is 1638 x 2^-14.
  CHECK(y.tensor().span<float>()[0] == 3);
  CHECK(y.tensor().span<float>()[3] == 1638 * 0x1p-14F);
}

TEST_CASE("masters of half precision stay float32, and so do their gradients") {
  Network network("mixed");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_parameter("w", Tensor::of<float>({2}, {1, 0.1F}));
  network.add_constant("c", Tensor::of<float>({2}, {0.1F, 1}));
  network.add_node("Mul", {"x", "w"}, {"m"});
  network.add_node("Add", {"m", "c"}, {"y"});
  network.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  CHECK_FALSE(applied(network, {"half-precision", {{"masters", true}}}).what.empty());
  CHECK(network.fetch("w").span<float>()[1] == 0.1F);
  CHECK(network.fetch("c").dtype() == DType::float16);
  const auto executor = make_executor(network);
  const auto run = [&] {
    return executor->inference_and_backprop({{"x", Tensor::of<float>({2}, {3, 0.1F})}}, "loss");
  };
  run();
  const Tensor gradient = network.parameter("w").gradient;
  REQUIRE(gradient.dtype() == DType::float32);
  CHECK(gradient.span<float>()[0] == 3);
  CHECK(gradient.span<float>()[1] == 1638 * 0x1p-14F);  // x rounded to float16
  // A step below half a unit in float16's last place counts in the master, not yet in the run.
  const float before = run().at("y").tensor().span<float>()[0];
  network.parameter("w").value.span<float>()[0] += 0x1p-12F;
  CHECK(run().at("y").tensor().span<float>()[0] == before);
  network.parameter("w").value.span<float>()[0] += 0x1p-10F;
  CHECK(run().at("y").tensor().span<float>()[0] > before);
}

TEST_CASE("a number that the shorter type does not reach is refused before anything is changed") {
  Network network("large");
  network.add_input("x", DType::float32, {std::int64_t{1}});
  network.add_parameter("w", Tensor::of<float>({1}, {1e6F}));
  network.add_node("Mul", {"x", "w"}, {"y"});
  network.add_output("y");
  const auto revision = network.revision();
  CHECK_THROWS_WITH(apply_transforms(network, {{"half-precision"}}),
                    Contains("'w' holds 1e+06") && Contains("bfloat16"));
  CHECK(network.revision() == revision);
  CHECK_FALSE(applied(network, {"half-precision", {{"type", "bfloat16"}}}).what.empty());
}

TEST_CASE("a convolution takes in the sum before its activation, unless that broadcasts") {
  Network network = residual();
  const auto report = applied(network, {"fuse-activation"});
  CHECK(report.what == "fused 2 activations and 2 sums into what is before them");
  CHECK_THAT(report.left.at(0), Contains("Relu 'third': 'shift'") && Contains("broadcast"));
  const onnx::Node &first = *network.producer("r1"), &second = *network.producer("r2");
  CHECK(first.op_type == "FusedConv");
  CHECK(first.inputs == std::vector<std::string>{"image", "w1", "b1", "image"});
  CHECK(second.inputs == std::vector<std::string>{"r1", "w2", "", "c3"});
}

TEST_CASE("a sum stays where somebody else reads it, or what it adds up") {
  for (const char* output : {"s1", "c1"}) {
    Network network = residual();
    network.add_output(output);
    (void)applied(network, {"fuse-activation"});
    CHECK(network.producer("r1")->op_type == "Relu");
    CHECK(network.producer("r2")->op_type == "FusedConv");
  }
}

TEST_CASE("a size that inputs leave open is the same as no other") {
  const auto fused = [](onnx::Dim first) {
    Network network("open");
    const std::int64_t one = 1;
    network.add_input("x", DType::float32, {"N", one, one});
    network.add_input("z", DType::float32, {std::move(first), one, one});
    network.add_constant("w", Tensor::of<float>({1, 1, 1}, {2}));
    network.add_node("Conv", {"x", "w"}, {"c"});
    network.add_node("Add", {"c", "z"}, {"s"});
    network.add_node("Relu", {"s"}, {"y"});
    network.add_output("y");
    return !applied(network, {"fuse-activation"}).what.empty();
  };
  CHECK(fused("N"));
  CHECK_FALSE(fused("M"));
  for (const std::int64_t size : {1, 2, 64, 96}) CHECK_FALSE(fused(size));
}

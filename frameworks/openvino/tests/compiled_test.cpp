// SPDX-License-Identifier: Apache-2.0
// Features of OpenVINO: options, its counters, types that it lacks.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace d5;

namespace {

ValueMap image() { return {{"image", Tensor::zeros(DType::float32, {1, 1, 28, 28})}}; }

/// y = op_type(x)
Network one_node(const std::string& op_type, DType dtype) {
  Network network("one");
  network.add_input("x", dtype, {3});
  network.add_node(op_type, {"x"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("it takes options, and refuses others") {
  const ExecutorEntry& entry = find_executor("openvino:compiled");
  for (const char* name : {"precision", "hint", "streams", "threads", "shapes"}) {
    CHECK(entry.has_option(name));
  }
  const auto executor =
      open_executor("openvino:compiled:hint=throughput:streams=2:threads=2", open_model("lenet"));
  CHECK(executor->inference(image()).size() == 1);
  CHECK_THROWS_AS(open_executor("openvino:compiled:stream=2", open_model("lenet")), NotFound);
  CHECK_THROWS_AS(open_executor("openvino:compiled:streams=0", open_model("lenet")), ValueError);
}

TEST_CASE("arithmetic is in float32 unless bfloat16 is asked for") {
  Network network("product");
  network.add_input("x", DType::float32, {1, 1});
  network.add_parameter("w", Tensor::of<float>({1, 1}, {1.001F}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_output("y");
  const ValueMap inputs{{"x", Tensor::of<float>({1, 1}, {1.001F})}};
  const auto executor = open_executor("openvino:compiled", network);
  CHECK(executor->inference(inputs).at("y").tensor().item<float>() == 1.001F * 1.001F);
}

namespace {

/// y = Softmax of opset 11 over `axis` of x, Nx2x3, behind a Reshape with computed sizes.
Network old_softmax(std::int64_t axis) {
  Network network("old");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}, std::int64_t{3}});
  network.add_node("Shape", {"x"}, {"sizes"});
  network.add_node("Reshape", {"x", "sizes"}, {"same"});
  network.add_node("Softmax", {"same"}, {"y"}, {{"axis", axis}});
  network.add_output("y");
  onnx::Model model = network.model();
  model.opset_imports[""] = 11;
  for (auto& node : model.graph.nodes) node.opset = 11;
  return Network(std::move(model));
}

ValueMap two_rows() {
  return {{"x", Tensor::of<float>({2, 2, 3}, {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0})}};
}

}  // namespace

TEST_CASE("a softmax of opset 11 is refused where it takes several axes at once, and there alone") {
  const auto expected = make_executor(old_softmax(2))->inference(two_rows());
  const auto answer = open_executor("openvino:compiled", old_softmax(2))->inference(two_rows());
  CHECK(compare_values(answer.at("y"), expected.at("y"), {}).equal);
  CHECK_THROWS_WITH(open_executor("openvino:compiled", old_softmax(1))->inference(two_rows()),
                    Catch::Contains("several axes at once"));
}

TEST_CASE("it compiles for any size where the network leaves one open, if it shall") {
  const auto executor = open_executor("openvino:compiled:shapes=free", old_softmax(2));
  const auto expected = make_executor(old_softmax(2))->inference(two_rows());
  CHECK(compare_values(executor->inference(two_rows()).at("y"), expected.at("y"), {}).equal);
  CHECK_THROWS_AS(open_executor("openvino:compiled:shapes=open", old_softmax(2)), ValueError);
}

TEST_CASE("a branch that is not taken may be impossible for the sizes that are fed") {
  const auto executor = open_executor("openvino:compiled", subgraphs::with_impossible_branch());
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto& y = executor->inference({{"x", x}, {"which", Tensor::scalar(false)}}).at("y");
  CHECK(y.tensor().shape() == Shape{2, 3});
  CHECK(y.tensor().span<float>()[5] == 6);
}

TEST_CASE("its counters of layers are on the trace, within the run") {
  const auto executor = open_executor("openvino:compiled", open_model("lenet"));
  Trace::start();
  (void)executor->inference(image());
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  const auto of_run = std::ranges::find(timeline.records, "inference", &TraceRecord::name);
  REQUIRE(of_run != timeline.records.end());
  int layers = 0, convolutions = 0;
  for (const auto& record : timeline.records) {
    if (record.arguments.empty() || record.arguments.back().name != "kernel") continue;
    ++layers;
    convolutions += record.name.starts_with("Convolution '");
    CHECK(record.begin_ns >= of_run->begin_ns);
    CHECK(record.end_ns <= of_run->end_ns);
  }
  CHECK(convolutions == 2);
  CHECK(layers > convolutions);
}

namespace {

/// Number of compilations in OpenVINO to run `network` node by node.
std::ptrdiff_t compilations(const Network& network, const ValueMap& inputs) {
  Trace::start();
  (void)open_executor("openvino", network)->inference(inputs);
  Trace::stop();
  return std::ranges::count(Trace::timeline().records, "compile", &TraceRecord::name);
}

/// x -> Sigmoid -> Mul -> Sigmoid -> Mul ..., each Mul with a different number.
Network long_chain(int pairs) {
  Network network("chain");
  network.add_input("x", DType::float32, {"N"});
  std::string last = "x";
  for (int i = 0; i < pairs; ++i) {
    const std::string factor = "factor" + std::to_string(i), y = "y" + std::to_string(i);
    network.add_parameter(factor, Tensor::vector<float>({1 + 0.1F * float(i)}));
    network.add_node("Sigmoid", {last}, {"s" + std::to_string(i)});
    network.add_node("Mul", {"s" + std::to_string(i), factor}, {y});
    last = y;
  }
  network.add_output(last);
  return network;
}

}  // namespace

TEST_CASE("nodes that differ only in names and parameters' values are compiled once") {
  const ValueMap inputs{{"x", Tensor::of<float>({3}, {-1, 0, 2})}};
  CHECK(compilations(long_chain(40), inputs) == 2);
  CHECK(compilations(long_chain(1), inputs) == 2);
  // Another shape is another node.
  Network network = long_chain(20);
  network.add_node("Concat", {"x", "y19"}, {"both"}, {{"axis", std::int64_t{0}}});
  network.add_node("Sigmoid", {"both"}, {"z"});
  network.add_output("z");
  CHECK(compilations(network, inputs) == 4);
  const auto executor = open_executor("openvino", network);
  const auto expected = make_executor(network)->inference(inputs);
  for (const auto& [name, value] : executor->inference(inputs)) {
    CHECK(compare_values(value, expected.at(name), {1e-5, 1e-6}).equal);
  }
}

TEST_CASE("types that it lacks are unsupported") {
  const auto doubles = open_executor("openvino:compiled", one_node("Relu", DType::float64));
  CHECK_THROWS_AS(doubles->inference({{"x", Tensor::zeros(DType::float64, {3})}}), Unsupported);
}

TEST_CASE("a slope of one dimension is refused where it might be one of channels") {
  const auto y = [](std::int64_t channels) {
    Network network("slopes");
    network.add_input("x", DType::float32, {1, channels, 3});
    network.add_constant("slope", Tensor::vector<float>({2, 3, 4}));
    network.add_node("PRelu", {"x", "slope"}, {"y"});
    network.add_output("y");
    Tensor x = Tensor::zeros(DType::float32, {1, channels, 3});
    for (float& value : x.span<float>()) value = -1;
    return open_executor("openvino:compiled", network)->inference({{"x", x}}).at("y");
  };
  CHECK(y(2).tensor().span<float>()[5] == -4);
  CHECK_THROWS_AS(y(3), Unsupported);
}

TEST_CASE("an input that a Dropout reads has another name there, and is fed") {
  const ValueMap inputs{{"x", Tensor::vector<float>({1, -2, 3})}};
  Network network("dropped");
  network.add_input("x", DType::float32, {3});
  network.add_node("Dropout", {"x"}, {"d"});
  network.add_node("Neg", {"d"}, {"y"});
  network.add_output("y");
  const auto executor = open_executor("openvino:compiled", network);
  CHECK(executor->inference(inputs).at("y").tensor().span<float>()[1] == 2);
}

TEST_CASE("a region that Resize does not read may be there") {
  const auto resized = [](const std::string& mode) {
    Network network("crop");
    network.add_input("x", DType::float32, {1, 1, 1, 2});
    network.add_input("roi", DType::float32, {8});
    network.add_constant("scales", Tensor::vector<float>({1, 1, 1, 2}));
    network.add_node("Resize", {"x", "roi", "scales"}, {"y"},
                     {{"mode", "nearest"}, {"coordinate_transformation_mode", mode}});
    network.add_output("y");
    const ValueMap inputs{{"x", Tensor::of<float>({1, 1, 1, 2}, {3, 5})},
                          {"roi", Tensor::vector<float>({0, 0, 0, 0, 1, 1, 1, 1})}};
    const auto y = open_executor("openvino", network)->inference(inputs).at("y");
    const auto numbers = y.tensor().span<float>();
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  CHECK(resized("asymmetric") == std::vector<float>{3, 3, 5, 5});
  CHECK_THROWS_AS(resized("tf_crop_and_resize"), Unsupported);
  // A node that OpenVINO removes has no input to feed.
  const auto dropout = open_executor("openvino", one_node("Dropout", DType::float32));
  CHECK_THROWS_AS(dropout->inference({{"x", Tensor::zeros(DType::float32, {3})}}), Unsupported);
}

TEST_CASE("ranges that may be empty are refused, those that count are not") {
  const auto count = [](float start, float delta, float limit) {
    Network network("range");
    network.add_input("limit", DType::float32, {});
    network.add_constant("start", Tensor::scalar(start));
    network.add_constant("delta", Tensor::scalar(delta));
    network.add_node("Range", {"start", "limit", "delta"}, {"y"});
    network.add_output("y");
    const auto executor = open_executor("openvino:compiled", network);
    return executor->inference({{"limit", Tensor::scalar(limit)}}).at("y").tensor().elements();
  };
  CHECK(count(0, 1, 5) == 5);
  CHECK_THROWS_AS(count(3, 1, 1), Unsupported);
}

TEST_CASE("what a layer refuses while it runs is unsupported, and the next model runs") {
  Network network("outside");
  network.add_input("x", DType::float32, {3});
  network.add_input("place", DType::int64, {1, 1});
  network.add_input("update", DType::float32, {1});
  network.add_node("ScatterND", {"x", "place", "update"}, {"y"});
  network.add_output("y");
  const ValueMap inputs{{"x", Tensor::zeros(DType::float32, {3})},
                        {"place", Tensor::of<std::int64_t>({1, 1}, {77})},
                        {"update", Tensor::of<float>({1}, {1})}};
  const std::string word = GENERATE("openvino:compiled:threads=1", "openvino:compiled:threads=2",
                                    "openvino:compiled:streams=2:threads=2");
  INFO(word);
  CHECK_THROWS_AS(open_executor(word, network)->inference(inputs), Unsupported);
  const auto next = open_executor(word, one_node("Relu", DType::float32));
  const ValueMap fed{{"x", Tensor::of<float>({3}, {-1, 2, 3})}};
  CHECK(next->inference(fed).at("y").tensor().span<float>()[2] == 3);
}

TEST_CASE("a causal attention with fewer queries than new keys behind past ones goes elsewhere") {
  const auto who_runs = [](const std::string& line) {
    const Network network = open_model(line);
    const ValueMap inputs = random_inputs(network);
    const auto mix = open_executor("openvino+reference", network);
    const auto expected = make_executor(network)->inference(inputs);
    for (const auto& [name, value] : mix->inference(inputs)) {
      CHECK(compare_values(value, expected.at(name), {1e-4, 1e-5}).equal);
    }
    return planned_steps(*mix).front().framework;
  };
  const std::string few = "Attention 2x4x3x8 2x4x5x8 2x4x5x8",
                    all = "Attention 2x4x3x8 2x4x3x8 2x4x3x8";
  const std::string past = " - 2x4x2x8 2x4x2x8 outputs=3";
  CHECK(who_runs(few + past) == "openvino");
  CHECK(who_runs(few + past + " is_causal=1") == "reference");
  CHECK(who_runs(all + past + " is_causal=1") == "openvino");
  CHECK(who_runs(few + " is_causal=1") == "openvino");
}

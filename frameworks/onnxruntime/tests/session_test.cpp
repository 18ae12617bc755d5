// SPDX-License-Identifier: Apache-2.0
// Features of ONNX Runtime: options, its profile, values that are not plain tensors.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace d5;

namespace {

ValueMap image() { return {{"image", Tensor::zeros(DType::float32, {1, 1, 28, 28})}}; }

/// Whether ONNX Runtime put a node of this operator on the trace.
bool ran(const Timeline& timeline, const std::string& op_type) {
  return std::ranges::any_of(timeline.records, [&](const TraceRecord& record) {
    return record.level == "operator" && record.name.starts_with(op_type + " '") &&
           std::ranges::find(record.arguments, TraceArgument{"provider", "CPUExecutionProvider"}) !=
               record.arguments.end();
  });
}

Timeline traced(const std::string& word, int runs) {
  const auto executor = open_executor(word, open_model("lenet"));
  Trace::start();
  for (int i = 0; i < runs; ++i) (void)executor->inference(image());
  Trace::stop();
  return Trace::timeline();
}

}  // namespace

TEST_CASE("a session takes options, and refuses others") {
  const ExecutorEntry& entry = find_executor("onnxruntime:session");
  for (const char* name : {"optimization", "execution", "threads", "spinning"}) {
    CHECK(entry.has_option(name));
  }
  const auto executor = open_executor(
      "onnxruntime:session:optimization=basic:execution=parallel:threads=1:spinning=false",
      open_model("lenet"));
  CHECK(executor->inference(image()).size() == 1);
  CHECK_THROWS_AS(open_executor("onnxruntime:session:optimisation=all", open_model("lenet")),
                  NotFound);
  CHECK_THROWS_AS(open_executor("onnxruntime:session:optimization=most", open_model("lenet")),
                  ValueError);
}

TEST_CASE("its profile is on the trace, node by node, within the runs") {
  const Timeline timeline = traced("onnxruntime:session:optimization=disabled", 3);
  CHECK(ran(timeline, "Conv"));
  CHECK(ran(timeline, "Gemm"));
  const auto convolutions = std::ranges::count_if(timeline.records, [](const auto& record) {
    return record.level == "operator" && record.name.starts_with("Conv '");
  });
  CHECK(convolutions == 6);  // two of LeNet in each of three runs
  std::int64_t first = 0, last = 0;
  for (const auto& record : timeline.records) {
    if (record.name != "inference") continue;
    if (first == 0) first = record.begin_ns;
    last = record.end_ns;
  }
  for (const auto& record : timeline.records) {
    if (record.level != "operator") continue;
    INFO(record.name);
    CHECK(record.begin_ns > first - 1'000'000);  // two clocks
    CHECK(record.end_ns < last + 1'000'000);
  }
}

TEST_CASE("a second trace has nodes, too") {
  CHECK(ran(traced("onnxruntime:session:optimization=disabled", 1), "Conv"));
  CHECK(ran(traced("onnxruntime:session:optimization=disabled", 1), "Conv"));
}

TEST_CASE("texts and sequences pass") {
  Network network("values");
  network.add_input("texts", DType::string, {2});
  network.add_node("Identity", {"texts"}, {"same"});
  network.add_node("SequenceConstruct", {"texts", "same"}, {"both"});
  network.add_node("ConcatFromSequence", {"both"}, {"joined"}, {{"axis", std::int64_t{0}}});
  network.add_output("joined");
  network.add_output("both");
  const auto executor = open_executor("onnxruntime:session", network);
  const ValueMap& outputs =
      executor->inference({{"texts", Tensor::vector<std::string>({"a", "longer text"})}});
  const auto joined = outputs.at("joined").tensor().span<std::string>();
  CHECK(std::vector<std::string>(joined.begin(), joined.end()) ==
        std::vector<std::string>{"a", "longer text", "a", "longer text"});
  CHECK(outputs.at("both").sequence().values.size() == 2);
}

TEST_CASE("maps pass") {
  const std::string labels = GENERATE("classlabels_int64s=3x5", "classlabels_strings=a,b");
  const Network network = open_model("ai.onnx.ml.ZipMap 2x2 " + labels);
  const ValueMap inputs = random_inputs(network);
  const auto expected = make_executor(network)->inference(inputs);
  const auto answers = open_executor("onnxruntime:session", network)->inference(inputs);
  REQUIRE(answers.size() == 1);
  CHECK(compare_values(answers.begin()->second, expected.begin()->second, {}).equal);
}

TEST_CASE("what ONNX Runtime cannot compile is unsupported, with its reason") {
  Network network("integers");
  network.add_input("x", DType::uint16, {2});
  network.add_node("Sigmoid", {"x"}, {"y"});
  network.add_output("y");
  const auto executor = open_executor("onnxruntime:session", network);
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::zeros(DType::uint16, {2})}}), Unsupported);
}

TEST_CASE("a branch that is not taken may be impossible for the sizes that are fed") {
  const auto executor = open_executor("onnxruntime:session", subgraphs::with_impossible_branch());
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto& y = executor->inference({{"x", x}, {"which", Tensor::scalar(false)}}).at("y");
  CHECK(y.tensor().shape() == Shape{2, 3});
  CHECK(y.tensor().span<float>()[5] == 6);
}

namespace {

/// y = a / (b + b), for integers or floats.
Network quotient(DType dtype, const std::string& op = "Div") {
  Network network("quotient");
  network.add_input("a", dtype, {2});
  network.add_input("b", dtype, {2});
  network.add_node("Add", {"b", "b"}, {"divisor"});
  network.add_node(op, {"a", "divisor"}, {"y"});
  network.add_output("y");
  return network;
}

/// A network whose If computes the quotient of captured values.
Network quotient_within(DType dtype) {
  const auto branch = std::make_shared<onnx::Graph>();
  onnx::Node node;
  node.op_type = "Div";
  node.opset = 21;
  node.inputs = {"a", "divisor"};
  node.outputs = {"q"};
  branch->nodes = {node};
  onnx::Type type;
  type.kind = ValueKind::tensor;
  type.dtype = dtype;
  branch->outputs = {{"q", type}};
  Network network("within");
  network.add_input("a", dtype, {2});
  network.add_input("which", DType::boolean, {});
  network.add_node("Add", {"a", "a"}, {"divisor"});
  const std::shared_ptr<const onnx::Graph> shared = branch;
  network.add_node("If", {"which"}, {"y"}, {{"then_branch", shared}, {"else_branch", shared}});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("integers are not divided by what is computed in the network, which might be 0") {
  const std::string op = GENERATE("Div", "Mod");
  const auto executor = open_executor("onnxruntime:session", quotient(DType::int64, op));
  const Tensor ones = Tensor::vector<std::int64_t>({1, 1});
  CHECK_THROWS_WITH(executor->inference({{"a", ones}, {"b", ones}}),
                    Catch::Contains("computed in the network"));
  const auto within = open_executor("onnxruntime:session", quotient_within(DType::int64));
  CHECK_THROWS_AS(within->inference({{"a", ones}, {"which", Tensor::scalar(true)}}), Unsupported);
}

TEST_CASE("real numbers are") {
  const auto executor = open_executor("onnxruntime:session", quotient(DType::float32));
  const Tensor a = Tensor::vector<float>({1, 3});
  CHECK(executor->inference({{"a", a}, {"b", a}}).at("y").tensor().span<float>()[1] == 0.5F);
  const auto within = open_executor("onnxruntime:session", quotient_within(DType::float32));
  const ValueMap& outputs = within->inference({{"a", a}, {"which", Tensor::scalar(true)}});
  CHECK(outputs.at("y").tensor().span<float>()[0] == 0.5F);
}

TEST_CASE("constants that divide are looked at before ONNX Runtime computes with them") {
  const auto by = [](std::vector<std::int64_t> divisor) {
    Network network("by a constant");
    network.add_input("x", DType::int64, {2});
    network.add_node("Neg", {"x"}, {"a"});
    network.add_constant("b", Tensor::vector<std::int64_t>(divisor));
    network.add_node("Div", {"a", "b"}, {"y"});
    network.add_output("y");
    return open_executor("onnxruntime:session", network);
  };
  const ValueMap inputs{{"x", Tensor::vector<std::int64_t>({6, 7})}};
  CHECK(by({2, 3})->inference(inputs).at("y").tensor().span<std::int64_t>()[0] == -3);
  CHECK_THROWS_AS(by({2, 0})->inference(inputs), Unsupported);
  CHECK_THROWS_AS(by({2, -1})->inference(inputs), Unsupported);  // the smallest integer may be
                                                                 // divided
}

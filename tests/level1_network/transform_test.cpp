// SPDX-License-Identifier: Apache-2.0
// Every transform that there is, on networks that between them hold what each looks for; then what
// single ones do, on numbers that a person can check.
#include "d5/level1_network/transform.hpp"
#include "level0_ops/kernels/tensor_conversion.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "d5/core/error.hpp"
#include "d5/core/random.hpp"
#include "d5/level1_network/model_source.hpp"
#include "d5/level1_network/network_validation.hpp"

using namespace d5;
using Catch::Contains;

namespace {

using Ints = std::vector<std::int64_t>;

Tensor drawn(const Shape& shape, std::uint32_t stream, float middle = 0) {
  Tensor result = Tensor::empty(DType::float32, shape);
  RandomStream random(3, stream);
  for (float& value : result.span<float>()) value = middle + 0.3F * (2 * random.uniform() - 1);
  return result;
}

void add_loss(Network& network, const std::string& logits) {
  network.add_input("label", DType::int64, {"N"});
  network.add_node("SoftmaxCrossEntropyLoss", {logits, "label"}, {"loss"});
  network.add_output("loss");
}

void add_norm(Network& network, const std::string& name, std::int64_t channels,
              const std::string& x, const std::string& y) {
  network.add_parameter(name + ".scale", drawn({channels}, 11, 1));
  network.add_parameter(name + ".shift", drawn({channels}, 12));
  network.add_constant(name + ".mean", drawn({channels}, 13));
  network.add_constant(name + ".variance", drawn({channels}, 14, 1));
  network.add_node("BatchNormalization",
                   {x, name + ".scale", name + ".shift", name + ".mean", name + ".variance"}, {y},
                   {}, name);
}

/// Convolutions with and without bias, each normalized, and Dropout.
Network normalized() {
  Network network("normalized");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{3}, std::int64_t{6}, std::int64_t{6}});
  network.add_parameter("w1", drawn({4, 3, 3, 3}, 1));
  network.add_parameter("w2", drawn({10, 4, 1, 1}, 2));
  network.add_parameter("b2", drawn({10}, 3));
  network.add_constant("ratio", Tensor::scalar(0.5F));
  network.add_node("Conv", {"image", "w1"}, {"c1"}, {{"pads", Ints{1, 1, 1, 1}}});
  add_norm(network, "norm1", 4, "c1", "n1");
  network.add_node("Relu", {"n1"}, {"r1"});
  network.add_node("Dropout", {"r1", "ratio"}, {"d1"});
  network.add_node("Conv", {"d1", "w2", "b2"}, {"c2"});
  add_norm(network, "norm2", 10, "c2", "n2");
  network.add_node("GlobalAveragePool", {"n2"}, {"pooled"});
  network.add_node("Flatten", {"pooled"}, {"flat"});
  network.add_node("Dropout", {"flat"}, {"logits"});
  network.add_output("logits");
  add_loss(network, "logits");
  return network;
}

/// What is computed twice, for nothing, or from constants.
Network redundant() {
  Network network("redundant");
  network.add_input("x", DType::float32, {"N", std::int64_t{4}});
  network.add_parameter("w", drawn({10, 4}, 1));
  network.add_parameter("same_w", drawn({10, 4}, 1));  // trained apart
  network.add_parameter("unread", drawn({5}, 2));
  network.add_constant("two", Tensor::scalar(2.0F));
  network.add_constant("also_two", Tensor::scalar(2.0F));
  network.add_node("Gemm", {"x", "w"}, {"a"}, {{"transB", std::int64_t{1}}});
  network.add_node("Gemm", {"x", "w"}, {"b"}, {{"transB", std::int64_t{1}}});
  network.add_node("Gemm", {"x", "same_w"}, {"c"}, {{"transB", std::int64_t{1}}});
  network.add_node("Exp", {"a"}, {"nobody_reads"});
  network.add_node("Mul", {"a", "two"}, {"a2"});
  network.add_node("Mul", {"b", "also_two"}, {"b2"});
  network.add_node("Constant", {}, {"half"}, {{"value_float", 0.5F}});
  network.add_node("Mul", {"half", "two"}, {"one"});
  network.add_node("Sub", {"b2", "one"}, {"b3"});
  network.add_node("Sum", {"a2", "b3", "c"}, {"logits"});
  network.add_node("Mul", {"two", "half"}, {"an_output"});  // of constants alone
  for (const char* output : {"logits", "a", "b", "an_output"}) network.add_output(output);
  add_loss(network, "logits");
  return network;
}

/// A graph that captures one of two nodes that compute the same, and a constant.
Network branching() {
  const auto branch = [](const std::string& op_type, const std::string& output) {
    auto graph = std::make_shared<onnx::Graph>();
    graph->name = output;
    onnx::Node& node = graph->nodes.emplace_back();
    node.op_type = op_type;
    node.opset = 22;
    node.inputs = {"b", "c"};
    node.outputs = {output};
    graph->outputs = {{output, {}}};
    return std::shared_ptr<const onnx::Graph>(graph);
  };
  Network network("branching");
  network.add_input("x", DType::float32, {"N", std::int64_t{10}});
  network.add_parameter("w", drawn({10}, 1));
  network.add_constant("zero", Tensor::scalar(0.0F));
  network.add_constant("log", Tensor::scalar(0.7F));
  network.add_node("Exp", {"log"}, {"c"});
  network.add_node("Mul", {"x", "w"}, {"a"});
  network.add_node("Mul", {"x", "w"}, {"b"});
  network.add_node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Greater", {"sum", "zero"}, {"positive"});
  network.add_node("If", {"positive"}, {"z"},
                   {{"then_branch", branch("Mul", "t")}, {"else_branch", branch("Add", "e")}});
  network.add_node("Add", {"z", "a"}, {"logits"});
  network.add_output("logits");
  add_loss(network, "logits");
  return network;
}

/// Images as NHWC, with a Transpose on each side of every convolution.
Network channels_last() {
  Network network("channels_last");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{6}, std::int64_t{6}, std::int64_t{3}});
  network.add_parameter("w1", drawn({4, 3, 3, 3}, 1));
  network.add_parameter("bias", drawn({4}, 2));
  network.add_parameter("w2", drawn({10, 4, 1, 1}, 3));
  network.add_constant("two", Tensor::scalar(2.0F));
  const auto transpose = [&](const char* from, const char* to, const Ints& perm) {
    network.add_node("Transpose", {from}, {to}, {{"perm", perm}});
  };
  const Ints to_first{0, 3, 1, 2}, to_last{0, 2, 3, 1};
  transpose("image", "x1", to_first);
  network.add_node("Conv", {"x1", "w1"}, {"c1"});
  transpose("c1", "y1", to_last);
  network.add_node("Add", {"y1", "bias"}, {"b1"});
  network.add_node("Relu", {"b1"}, {"r1"});
  network.add_node("Mul", {"r1", "two"}, {"m1"});
  transpose("m1", "x2", to_first);
  network.add_node("Conv", {"x2", "w2"}, {"c2"});
  transpose("c2", "y2", to_last);
  network.add_node("Sigmoid", {"y2"}, {"s2"});
  network.add_constant("axes", Tensor::vector<std::int64_t>({1, 2}));
  network.add_node("ReduceMean", {"s2", "axes"}, {"logits"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("s2");
  add_loss(network, "logits");
  return network;
}

Network with_loss(const std::string& model) {
  return models().at(model).make({{"with_loss", true}});
}

const std::vector<std::function<Network()>>& networks() {
  static const std::vector<std::function<Network()>> all = {
      [] { return with_loss("lenet"); }, normalized, redundant, branching, channels_last};
  return all;
}

/// Where the defaults leave a network as it is.
Settings settings_of(const std::string& transform) {
  if (transform == "microbatch") return {{"batch", 3}, {"memory", "16KiB"}};
  return {};
}

/// As a file holds it: what ONNX's checker refuses does not come back.
Network written(const Network& network) {
  const std::string file = network.serialize();
  return Network::parse(std::as_bytes(std::span(file)), network.name());
}

bool is_zero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.span<float>(), [](float value) { return value == 0; });
}

/// Within 4 roundings to float16, of 2^-11 each, relative to the largest number: every result and
/// every weight is rounded once, and as roundings are of both signs their sum stays near one.
void check_rounded(const std::string& output, const Tensor& rounded, const Tensor& expected) {
  const Tensor got = detail::converted(rounded, DType::float32);
  float largest = 0;
  for (const float value : expected.span<float>()) largest = std::max(largest, std::abs(value));
  const auto close = [&](float a, float b) { return std::abs(a - b) <= 4 * 0x1p-11F * largest; };
  INFO(output);
  CHECK(std::ranges::equal(got.span<float>(), expected.span<float>(), close));
}

/// Whether a rounding can make a gradient go another way, which moves it as a whole.
bool chooses(const Network& network) {
  return std::ranges::any_of(network.graph().nodes,
                             [](const auto& node) { return node.op_type == "MaxPool"; });
}

/// Every output, and what else the chain says that it keeps.
void check_kept(Network before, Network after, Keeps keeps) {
  CHECK(after.input_names() == before.input_names());
  CHECK(after.output_names() == before.output_names());
  const ValueMap inputs = random_inputs(before, {.batch = 3}, 5);
  const auto first = make_executor(before), second = make_executor(after);
  const ValueMap expected = first->inference(inputs), got = second->inference(inputs);
  for (const auto& [name, value] : expected) {
    CHECK(to_string(got.at(name).desc()) == to_string(value.desc()));
    if (keeps == Keeps::rounded) check_rounded(name, got.at(name).tensor(), value.tensor());
  }
  if (keeps == Keeps::rounded) {
    if (chooses(before)) return;
    first->inference_and_backprop(inputs, "loss");
    second->inference_and_backprop(inputs, "loss");
    for (const auto& parameter : after.parameters()) {
      check_rounded("gradient of " + parameter.name, parameter.gradient,
                    before.parameter(parameter.name).gradient);
    }
    return;
  }
  const auto records = keeps == Keeps::gradients
                           ? test_executor_backprop(*second, *first, inputs, "loss")
                           : test_executor(*second, *first, inputs);
  REQUIRE(records.size() >= before.output_names().size());
  for (const auto& record : records) {
    const std::string tensor = record.conditions.at("tensor"), gradient = "gradient of ";
    INFO(tensor << ": " << record.reason);
    const std::string name = tensor.starts_with(gradient) ? tensor.substr(gradient.size()) : "";
    if (name.empty() || after.is_parameter(name)) {
      CHECK(record.status == Status::passed);
    } else {
      CHECK(is_zero(before.parameter(name).gradient));
    }
  }
}

/// The only record of a chain of one.
TransformReport applied(Network& network, const EntryChoice& choice) {
  return apply_transforms(network, {choice}).at(0).report;
}

}  // namespace

TEST_CASE("every transform keeps what it says, on every network") {
  for (const auto& name : transforms().names()) {
    std::size_t changed = 0;
    for (const auto& make : networks()) {
      Network after = make();
      INFO(name << " on " << after.name());
      const auto report = applied(after, {name, settings_of(name)});
      changed += report.what.empty() ? 0 : 1;
      check_kept(make(), written(after), kept_by({{name}}));
      CHECK(applied(after, {name, settings_of(name)}).what.empty());  // once was enough
    }
    INFO(name);
    CHECK(changed > 0);  // the networks hold something for it
  }
}

TEST_CASE("transforms after each other keep what all of them keep") {
  const TransformChain chain = {{"remove-dropout"},
                                {"fold-batch-norm"},
                                {"constant-folding"},
                                {"common-subexpressions"},
                                {"dead-code"}};
  for (const auto& make : networks()) {
    Network after = make();
    INFO(after.name());
    const auto steps = apply_transforms(after, chain);
    REQUIRE(steps.size() == chain.size());
    CHECK(steps.front().nodes_before == make().graph().nodes.size());
    CHECK(steps.back().nodes_after == after.graph().nodes.size());
    check_kept(make(), written(after), kept_by(chain));
  }
  CHECK(kept_by(chain) == Keeps::outputs);
  CHECK(kept_by({}) == Keeps::gradients);
}

TEST_CASE("a transform by a wrong name, or with a wrong setting, changes nothing") {
  Network network = redundant();
  const auto revision = network.revision();
  CHECK_THROWS_WITH(apply_transforms(network, {{"dead-code"}, {"dead-cod"}}),
                    Contains("did you mean dead-code?"));
  CHECK_THROWS_AS(apply_transforms(network, {{"dead-code", {{"deep", true}}}}), NotFound);
  CHECK_THROWS_AS(apply_transforms(network, {{"half-precision", {{"type", "float8"}}}}),
                  ValueError);
  CHECK(network.revision() == revision);
}

TEST_CASE("a network that differentiates itself is refused") {
  Network network("slope");
  network.add_input("x", DType::float32, {std::int64_t{1}});
  network.add_node("Exp", {"x"}, {"y"});
  onnx::Node& gradient =
      network.add_node("Gradient", {"x"}, {"dy"},
                       {{"xs", std::vector<std::string>{"x"}}, {"y", std::string("y")}}, "slope");
  gradient.domain = "ai.onnx.preview.training";
  gradient.opset = 1;
  network.add_output("dy");
  CHECK_THROWS_WITH(apply_transforms(network, {{"dead-code"}}), Contains("Gradient 'slope'"));
}

TEST_CASE("what is said of a chain names each transform and what it left") {
  Network network = normalized();
  network.add_output("c1");
  const auto steps = apply_transforms(network, {{"fold-batch-norm"}, {"dead-code"}});
  const std::string text = to_table(steps).to_text(Format::csv);
  CHECK_THAT(text, Contains("fold-batch-norm") && Contains("folded 1 BatchNormalization"));
  CHECK_THAT(text, Contains("left: BatchNormalization 'norm1': 'c1' is an output too"));
  CHECK_THAT(text, Contains("nothing to change"));
}

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
             Contains("'image' is written by no Conv"));
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
  CHECK(gradient.span<float>()[1] == 1638 * 0x1p-14F);  // of x as float16 has it
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

// SPDX-License-Identifier: Apache-2.0
// The choice of a file's tensors that are parameters.
#include "d5/level1_network/graph/network.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

namespace parameter_roles {

using namespace subgraphs;
using d5::Network;
using subgraphs::node;

namespace {

Tensor floats(const d5::Shape& shape, float first = 0.5, float step = 0.25) {
  Tensor result = Tensor::empty(DType::float32, shape);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    result.data<float>()[i] = first + step * float(i);
  }
  return result;
}

Node constant(const std::string& name, Tensor value) {
  return node("Constant", {}, {name}, {{"value", std::move(value)}});
}

d5::onnx::Model model_of(std::vector<Node> nodes, std::map<std::string, Tensor> initializers = {},
                         const std::string& producer = "") {
  d5::onnx::Model model;
  model.graph.name = "file";
  model.producer_name = producer;
  model.ir_version = 10;
  model.opset_imports[""] = 21;
  for (const char* input : {"x", "c"}) {
    d5::onnx::Type type;
    type.kind = d5::ValueKind::tensor;
    type.dtype = input == std::string("c") ? DType::boolean : DType::float32;
    type.has_shape = true;
    if (input == std::string("x")) type.dims = {"N", std::int64_t{3}};
    model.graph.inputs.push_back({input, type});
    type.dims = {"N", "K"};
    if (input == std::string("x")) {
      model.graph.outputs.push_back({nodes.back().outputs.front(), type});
    }
  }
  model.graph.nodes = std::move(nodes);
  model.graph.initializers.insert(initializers.begin(), initializers.end());
  return model;
}

Network network_of(std::vector<Node> nodes, std::map<std::string, Tensor> initializers = {},
                   const std::string& producer = "") {
  return Network(model_of(std::move(nodes), std::move(initializers), producer));
}

Names parameters(const Network& network) {
  Names result;
  for (const auto& [name, value] : network.graph().initializers) {
    if (network.is_parameter(name)) result.push_back(name);
  }
  return result;
}

std::size_t count(const Network& network, const std::string& op_type) {
  return std::size_t(std::ranges::count(network.graph().nodes, op_type, &Node::op_type));
}

}  // namespace

TEST_CASE("Constants in the place of a weight or bias are parameters, by any way to it") {
  const auto network = network_of(
      {constant("w", floats({3, 4})), constant("b", floats({4})), constant("v", floats({5, 4})),
       constant("shape", Tensor::vector(std::vector<std::int64_t>{1, -1})),
       constant("wide", doubles({5}, 1, 2)), constant("k", floats({4})),
       node("Transpose", {"v"}, {"vt"}),
       node("Cast", {"wide"}, {"narrow"}, {{"to", std::int64_t{1}}}),
       node("Reshape", {"narrow", "shape"}, {"row"}), node("Identity", {"k"}, {"k2"}),
       node("Gemm", {"x", "w", "b"}, {"h"}), node("Mul", {"h", "k2"}, {"s"}),
       node("MatMul", {"s", "vt"}, {"p"}), node("Add", {"p", "row"}, {"y"})});
  CHECK(parameters(network) == Names{"b", "k", "v", "w", "wide"});
  CHECK(network.parameter_notes().lifted.size() == 5);
  CHECK(count(network, "Constant") == 1);  // the shape
  // The same when it is written and read again.
  const std::string text = network.serialize();
  CHECK(parameters(Network::parse(std::as_bytes(std::span(text)), "text")) == parameters(network));
}

TEST_CASE("numbers of a network's code stay constants") {
  const auto network = network_of(
      {constant("w", floats({3, 4})), constant("half", Tensor::scalar(0.5f)),
       constant("one", floats({1})), constant("mean", floats({3})), constant("spread", floats({3})),
       constant("mask", Tensor::of<float>({4}, {0, 0, -1e9f, 0})), constant("power", floats({4})),
       constant("low", Tensor::scalar(0.f)), node("Sub", {"x", "mean"}, {"m"}),
       node("Div", {"m", "spread"}, {"n"}), node("MatMul", {"n", "w"}, {"h"}),
       node("Add", {"h", "mask"}, {"a"}), node("Mul", {"a", "half"}, {"b"}),
       node("Add", {"b", "one"}, {"d"}), node("Pow", {"d", "power"}, {"e"}),
       node("Clip", {"e", "low"}, {"y"})});
  CHECK(parameters(network) == Names{"w"});
}

TEST_CASE("a bias of one number is distinguished from a constant by the layer before it") {
  const auto network = network_of({constant("w", floats({3, 1})), constant("b", floats({1})),
                                   constant("e", floats({1})), node("MatMul", {"x", "w"}, {"h"}),
                                   node("Add", {"h", "b"}, {"s"}), node("Exp", {"s"}, {"t"}),
                                   node("Add", {"t", "e"}, {"y"})});
  CHECK(parameters(network) == Names{"b", "w"});
}

TEST_CASE("a scale and shift of the input are parameters where nothing else is") {
  const auto network = network_of({constant("a", floats({3})), constant("b", floats({3})),
                                   node("Mul", {"x", "a"}, {"s"}), node("Add", {"s", "b"}, {"y"})});
  CHECK(parameters(network) == Names{"a", "b"});
  const auto scaled =
      network_of({constant("a", floats({3})), constant("w", floats({3, 2})),
                  node("Mul", {"x", "a"}, {"s"}), node("MatMul", {"s", "w"}, {"y"})});
  CHECK(parameters(scaled) == Names{"w"});
}

TEST_CASE("beside initializers only Constants in the place of a weight are parameters") {
  const auto nodes = [] {
    return std::vector<Node>{constant("v", floats({4, 5})),
                             constant("k", floats({5})),
                             constant("ones", floats({5}, 1, 0)),
                             constant("zeros", floats({5}, 0, 0)),
                             constant("bias", floats({5})),
                             node("MatMul", {"x", "w"}, {"h"}),
                             node("MatMul", {"h", "v"}, {"p"}),
                             node("Mul", {"p", "k"}, {"s"}),
                             node("LayerNormalization", {"s", "ones", "zeros"}, {"n"}),
                             node("LayerNormalization", {"n", "ones", "bias"}, {"y"})};
  };
  CHECK(parameters(network_of(nodes(), {{"w", floats({3, 4})}})) == Names{"bias", "v", "w"});
  // Whose parameters are initializers, and Constants the numbers of its code.
  CHECK(parameters(network_of(nodes(), {{"w", floats({3, 4})}}, "pytorch")) == Names{"w"});
  // If all weights are Constants, ones and zeros may be initial values of training.
  auto all = nodes();
  all.insert(all.begin(), constant("w", floats({3, 4})));
  CHECK(parameters(network_of(std::move(all))) == Names{"bias", "k", "ones", "v", "w", "zeros"});
}

TEST_CASE("ones and zeros that make a GroupNormalization of an instance's stay constants") {
  const auto nodes = [](const char* after) {
    return std::vector<Node>{node("Reshape", {"x", "groups"}, {"g"}),
                             node("InstanceNormalization", {"g", "ones", "zeros"}, {"n"}),
                             node(after, {"n", "back"}, {"r"}), node("Mul", {"r", "gamma"}, {"y"})};
  };
  const std::map<std::string, Tensor> values{
      {"groups", Tensor::vector(std::vector<std::int64_t>{0, 2, -1})},
      {"back", Tensor::vector(std::vector<std::int64_t>{0, 4, 3, 3})},
      {"ones", floats({2}, 1, 0)},
      {"zeros", floats({2}, 0, 0)},
      {"gamma", floats({4, 1, 1})}};
  const auto network = network_of(nodes("Reshape"), values);
  CHECK(parameters(network) == Names{"gamma"});
  CHECK_THAT(network.parameter_notes().constants.at("ones"), Catch::Contains("GroupNormalization"));
  CHECK(network.parameter_notes().constants.contains("zeros"));
  auto trained = values;  // training may have done so on purpose
  trained["ones"] = floats({2}, 1, 0.5);
  CHECK(parameters(network_of(nodes("Reshape"), trained)) == Names{"gamma", "ones"});
  CHECK(parameters(network_of(nodes("Expand"), values)) == Names{"gamma", "ones", "zeros"});
}

TEST_CASE("weights in graphs that a node holds are parameters where gradients pass the node") {
  const auto branch = [](float first) {
    auto result = std::make_shared<Graph>();
    result->nodes = {constant("b", floats({2}, first)), node("MatMul", {"x", "w"}, {"p"}),
                     node("Add", {"p", "b"}, {"q"})};
    result->initializers["w"] = floats({3, 2}, first);
    result->outputs = {{"q", {}}};
    return GraphPointer(result);
  };
  const auto network = network_of(
      {node("If", {"c"}, {"y"}, {{"then_branch", branch(1)}, {"else_branch", branch(2)}})});
  CHECK(parameters(network).size() == 4);
  CHECK(network.parameter_notes().lifted.size() == 4);
  const auto first_of = [&](const char* attribute, const std::string& op_type) {
    const auto& graph = *network.graph().nodes[0].attribute<GraphPointer>(attribute);
    REQUIRE(graph->initializers.empty());
    for (const auto& one : graph->nodes) {
      if (one.op_type == op_type) return network.fetch(one.inputs[1]).span<float>()[0];
    }
    return 0.f;
  };
  for (const char* op_type : {"MatMul", "Add"}) {  // each branch reads its own
    CHECK(first_of("then_branch", op_type) == 1);
    CHECK(first_of("else_branch", op_type) == 2);
  }
}

TEST_CASE("a constant in a graph that a node holds stays there unless it is a parameter") {
  auto body = std::make_shared<Graph>();
  body->nodes = {constant("table", floats({2})), constant("w", floats({3, 2})),
                 node("MatMul", {"x", "w"}, {"p"}), node("Pow", {"table", "p"}, {"q"})};
  body->outputs = {{"q", {}}};
  const GraphPointer shared = body;
  const auto network =
      network_of({node("If", {"c"}, {"y"}, {{"then_branch", shared}, {"else_branch", shared}})});
  CHECK(parameters(network).size() == 2);
  const auto& kept = *network.graph().nodes[0].attribute<GraphPointer>("then_branch");
  REQUIRE(kept->nodes.size() == 3);
  CHECK(kept->nodes[0].outputs[0] == "table");
  CHECK_FALSE(network.graph().initializers.contains("table"));
}

TEST_CASE("weights that are integers stay constants, and are named") {
  const auto network =
      network_of({node("DequantizeLinear", {"q", "s"}, {"w"}), node("MatMul", {"x", "w"}, {"y"})},
                 {{"q", Tensor::of<std::int8_t>({3, 2}, {1, 2, 3, 4, 5, 6})}});
  CHECK(parameters(network).empty());
  CHECK_THAT(network.parameter_notes().constants.at("q"),
             Catch::Contains("int8 behind DequantizeLinear"));
}

}  // namespace parameter_roles

// SPDX-License-Identifier: Apache-2.0
// Edits in the middle of a network. Those that build one are in network_test.cpp.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/network.hpp"

using namespace d5;
using Catch::Contains;

namespace {

onnx::Node node(const std::string& op_type, std::vector<std::string> inputs,
                std::vector<std::string> outputs, std::string name = {}) {
  onnx::Node result;
  result.op_type = op_type;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.name = std::move(name);
  return result;
}

/// y = -(|x| + c), with x = {-1, 2} and c = {10}.
Network edited_chain() {
  Network network("chain");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_constant("c", Tensor::of<float>({1}, {10}));
  network.add_node("Abs", {"x"}, {"a"}, {}, "abs");
  network.add_node("Add", {"a", "c"}, {"s"}, {}, "add");
  network.add_node("Neg", {"s"}, {"y"}, {}, "neg");
  network.add_output("y");
  return network;
}

/// z is x where the sum of x is above zero, and else a, both captured.
Network branching() {
  const auto branch = [](const std::string& captured, const std::string& output) {
    auto graph = std::make_shared<onnx::Graph>();
    graph->name = output;
    graph->nodes = {node("Identity", {captured}, {output})};
    graph->nodes.front().opset = 22;
    graph->outputs = {{output, {}}};
    return std::shared_ptr<const onnx::Graph>(graph);
  };
  Network network = edited_chain();
  network.add_constant("zero", Tensor::scalar(0.0F));
  network.add_node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Greater", {"sum", "zero"}, {"positive"});
  network.add_node("If", {"positive"}, {"z"},
                   {{"then_branch", branch("x", "t")}, {"else_branch", branch("a", "e")}});
  network.add_output("z");
  return network;
}

std::vector<float> answer(const Network& network, const std::string& output = "y",
                          std::vector<float> x = {-1, 2}) {
  const auto executor = make_executor(network);
  const auto values =
      executor->inference({{network.input_names().front(), Tensor::vector(x)}}).at(output);
  const auto span = values.tensor().span<float>();
  return {span.begin(), span.end()};
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a node is put between a tensor and all that read it") {
  Network network = edited_chain();
  network.insert_node("a", node("Sqrt", {"a"}, {"root"}));
  CHECK(answer(network, "y", {-4, 9}) == Floats{-12, -13});
  CHECK(network.node("add").inputs.front() == "root");
  CHECK(network.graph().nodes[1].op_type == "Sqrt");  // placed where it can run
  CHECK(network.graph().nodes[1].opset == 22);

  CHECK_THROWS_AS(network.insert_node("a", node("Sqrt", {"s"}, {"t"})), ValueError);
  CHECK_THROWS_AS(network.insert_node("b", node("Sqrt", {"b"}, {"t"})), NotFound);
  CHECK_THROWS_AS(network.insert_node("a", node("Sqrt", {"a"}, {"s"})), ValueError);
}

TEST_CASE("a node takes the place of another and writes what others read of it") {
  Network network = edited_chain();
  network.replace_node("add", node("Mul", {"a", "c"}, {"s"}, "add"));
  CHECK(answer(network) == Floats{-10, -20});
  CHECK_THROWS_WITH(network.replace_node("add", node("Mul", {"a", "c"}, {"t"})),
                    Contains("'s' cannot be removed: Neg 'neg' needs it"));
  CHECK_THROWS_AS(network.replace_node("ad", node("Mul", {"a", "c"}, {"s"})), NotFound);
  CHECK(answer(network) == Floats{-10, -20});  // as before what was refused
}

TEST_CASE("readers of a tensor read another one, in graphs of nodes too") {
  Network network = branching();
  CHECK(answer(network, "z") == Floats{-1, 2});
  CHECK(answer(network, "z", {-3, 2}) == Floats{3, 2});
  network.redirect({{"a", "x"}});
  CHECK(answer(network) == Floats{-9, -12});
  CHECK(answer(network, "z", {-3, 2}) == Floats{-3, 2});
  CHECK_THROWS_AS(network.redirect({{"a", "nothing"}}), NotFound);
}

TEST_CASE("an edit that closes a cycle is refused, and named") {
  Network network = edited_chain();
  CHECK_THROWS_WITH(network.redirect({{"a", "y"}}), Contains("cycle") && Contains("Add 'add'"));
  CHECK(answer(network) == Floats{-11, -12});
}

TEST_CASE("a tensor has its new name wherever it stands") {
  Network network = branching();
  network.rename("x", "image");
  network.rename("a", "size");
  network.rename("c", "ten");
  network.rename("y", "answer");
  CHECK(network.input_names() == std::vector<std::string>{"image"});
  CHECK(network.output_names() == std::vector<std::string>{"answer", "z"});
  CHECK(network.fetch("ten").item<float>() == 10);
  CHECK(answer(network, "answer") == Floats{-11, -12});
  CHECK(answer(network, "z", {-3, 2}) == Floats{3, 2});
  CHECK_THROWS_AS(network.rename("ten", "size"), ValueError);
  CHECK_THROWS_AS(network.rename("x", "y"), NotFound);
  // A graph of the If writes a tensor of that name, which would hide it.
  CHECK_THROWS_WITH(network.rename("size", "e"), Contains("'e'"));
}

TEST_CASE("a parameter with a new name is still one") {
  Network network("w");
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_node("Neg", {"w"}, {"y"});
  network.add_output("y");
  network.rename("w", "weight");
  CHECK(network.parameter("weight").value.item<float>() == 3);
  CHECK_FALSE(network.is_parameter("w"));
}

TEST_CASE("one edit takes out and puts in, in an order that can run") {
  Network network = edited_chain();
  network.splice({.remove = {"s", "c"},
                  .nodes = {node("Sub", {"m", "one"}, {"s"}), node("Mul", {"a", "two"}, {"m"})},
                  .constants = {{"one", Tensor::of<float>({1}, {1})}},
                  .parameters = {{"two", Tensor::of<float>({1}, {2})}}});
  CHECK(answer(network) == Floats{-1, -3});
  CHECK(network.is_parameter("two"));
  CHECK_FALSE(network.is_parameter("one"));
  CHECK_THROWS_AS(network.fetch("c"), NotFound);
}

TEST_CASE("a value is replaced by one of another type and shape") {
  Network network = edited_chain();
  network.splice({.remove = {"c"}, .constants = {{"c", Tensor::of<float>({2}, {1, 5})}}});
  CHECK(answer(network) == Floats{-2, -7});
}

TEST_CASE("an edit that would leave a hole changes nothing") {
  Network network = edited_chain();
  const auto revision = network.revision();
  const auto refused = [&](Splice change, const std::string& message) {
    CHECK_THROWS_WITH(network.splice(std::move(change)), Contains(message));
  };
  refused({.remove = {"a"}}, "Add 'add' needs it");
  refused({.remove = {"c"}}, "Add 'add' needs it");
  refused({.remove = {"y"}}, "output");
  refused({.remove = {"x"}}, "'x' is an input of the network");
  refused({.remove = {"nothing"}}, "'nothing' is unknown");
  refused({.nodes = {node("Neg", {"yy"}, {"z"})}}, "'yy' is unknown");
  refused({.nodes = {node("Neg", {"x"}, {"a"})}}, "'a'");
  refused({.nodes = {node("Neg", {"x"}, {"z"}, "neg")}}, "'neg'");
  refused({.nodes = {node("Split", {"x"}, {"z", "z"})}}, "'z'");
  refused({.constants = {{"c", Tensor::scalar(1.0F)}}}, "'c'");
  CHECK_THROWS_AS(network.splice({.constants = {{"d", Tensor()}}}), TypeError);
  CHECK_THROWS_AS(network.splice({.parameters = {{"d", Tensor::scalar(std::int64_t{1})}}}),
                  TypeError);
  CHECK(network.revision() == revision);
  CHECK(answer(network) == Floats{-11, -12});
}

TEST_CASE("an update follows the value that it takes, and keeps it from being removed") {
  Network network = edited_chain();
  network.add_update("c", "s");
  network.rename("s", "sum");
  CHECK(network.updates().at("c") == "sum");
  network.redirect({{"sum", "a"}});
  CHECK(network.updates().at("c") == "a");
  network.replace_node("neg", node("Neg", {"x"}, {"y"}));
  network.splice({.remove = {"sum"}});
  CHECK_THROWS_WITH(network.splice({.remove = {"c"}}), Contains("update of 'c'"));
  CHECK_THROWS_WITH(network.splice({.remove = {"a"}}), Contains("update of 'c'"));
}

TEST_CASE("a name that no tensor has is made from one that is taken") {
  Network network = edited_chain();
  CHECK(network.unused_name("free") == "free");
  CHECK(network.unused_name("a") == "a_2");
  network.rename("s", "a_2");
  CHECK(network.unused_name("a") == "a_3");
}

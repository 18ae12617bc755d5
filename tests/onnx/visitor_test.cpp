// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/visitor.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::onnx {
namespace {

Node node(std::string op_type, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  Node result;
  result.op_type = std::move(op_type);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

/// y = If(c) { Add(x, b) } { Relu(w) }; z = Relu(y), where w is the branch's own.
Graph graph_with_branches() {
  Graph then_branch, else_branch, result;
  then_branch.name = "then";
  then_branch.nodes = {node("Add", {"x", "b"}, {"t"})};
  then_branch.outputs = {{"t", {}}};
  else_branch.name = "else";
  else_branch.initializers.emplace("w", Tensor::of<float>({1}, {1.0f}));
  else_branch.nodes = {node("Relu", {"w"}, {"e"})};
  else_branch.outputs = {{"e", {}}};
  Node choice = node("If", {"c"}, {"y"});
  choice.attributes["then_branch"] = std::make_shared<const Graph>(then_branch);
  choice.attributes["else_branch"] = std::make_shared<const Graph>(else_branch);
  result.name = "main";
  result.inputs = {{"c", {}}, {"x", {}}, {"b", {}}};
  result.nodes = {choice, node("Relu", {"y"}, {"z"})};
  result.outputs = {{"z", {}}};
  return result;
}

TEST_CASE("a visitor sees each node once, subgraphs where their node stands") {
  std::vector<std::string> seen;
  Visitor visitor;
  visitor.on<nodes::Relu>([&](const nodes::Relu& relu) { seen.push_back(relu.node().outputs[0]); });
  visitor.otherwise([&](const Node& other) { seen.push_back(other.op_type); });
  visitor.on_enter([&](const Graph& graph) { seen.push_back("<" + graph.name); });
  visitor.on_leave([&](const Graph& graph) { seen.push_back(graph.name + ">"); });
  visitor.visit(graph_with_branches());
  CHECK(seen == std::vector<std::string>{"<main", "If", "<else", "e", "else>", "<then", "Add",
                                         "then>", "z", "main>"});
}

TEST_CASE("an operator of the same name in another domain is another operator") {
  int seen = 0;
  Visitor visitor;
  visitor.on<nodes::Relu>([&](const nodes::Relu&) { ++seen; });
  Graph graph;
  graph.nodes = {node("Relu", {"x"}, {"y"})};
  graph.nodes[0].domain = "custom";
  visitor.visit(graph);
  CHECK(seen == 0);
}

TEST_CASE("a translation names all nodes that it lacks before it begins") {
  int seen = 0;
  Visitor visitor;
  visitor.on<nodes::Relu>([&](const nodes::Relu&) { ++seen; });
  CHECK_THROWS_AS(visitor.translate(graph_with_branches(), "numpy"), Unsupported);
  CHECK_THROWS_WITH(visitor.translate(graph_with_branches(), "numpy"),
                    "numpy has no translation for: If 'y', Add 't' (2 nodes); write a custom "
                    "operator for it, or mix: frameworks=['numpy+reference']");
  CHECK(seen == 0);
  visitor.on<nodes::If>([&](const nodes::If&) { ++seen; });
  visitor.on<nodes::Add>([&](const nodes::Add&) { ++seen; });
  visitor.translate(graph_with_branches(), "numpy");
  CHECK(seen == 4);
}

TEST_CASE("a subgraph captures what it reads and does not define") {
  const Graph graph = graph_with_branches();
  const auto inner = subgraphs(graph.nodes[0]);
  CHECK(captured_names(*inner.at("then_branch")) == std::vector<std::string>{"x", "b"});
  CHECK(captured_names(*inner.at("else_branch")).empty());
  CHECK(captured_names(graph).empty());
}

TEST_CASE("lists of graphs are subgraphs by their place") {
  Node holder = node("Many", {}, {"y"});
  const auto one = std::make_shared<const Graph>();
  holder.attributes["branches"] = std::vector<std::shared_ptr<const Graph>>{one, one};
  const auto inner = subgraphs(holder);
  CHECK(inner.size() == 2);
  CHECK(inner.contains("branches[1]"));
}

}  // namespace
}  // namespace d5::onnx

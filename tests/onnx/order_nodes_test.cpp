// SPDX-License-Identifier: Apache-2.0
// Files whose nodes stand before what they read, as some converters leave them.
#include <catch2/catch.hpp>

#include "messages.hpp"

namespace d5::onnx {
namespace {

std::string operators_of(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes) names += node.op_type + " ";
  return names;
}

}  // namespace

TEST_CASE("nodes are put behind what they read, and stay as they are where they can") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {2});
  declare(*graph.add_output(), "y", {2});
  SECTION("one that was appended") {
    add_node(graph, "Abs", {"x"}, {"a"});
    add_node(graph, "Add", {"a", "b"}, {"y"});
    add_node(graph, "Neg", {"a"}, {"n"});
    add_node(graph, "Exp", {"n"}, {"b"});
    CHECK(operators_of(parse_message(message).graph) == "Abs Neg Exp Add ");
  }
  SECTION("in order") {
    add_node(graph, "Neg", {"x"}, {"n"});
    add_node(graph, "Abs", {"x"}, {"a"});
    add_node(graph, "Add", {"a", "n"}, {"y"});
    CHECK(operators_of(parse_message(message).graph) == "Neg Abs Add ");
  }
}

TEST_CASE("what the graph of a node reads from outside stands before that node") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  auto& which = *graph.add_input();
  declare(which, "which", {}, ::onnx::TensorProto::BOOL);
  declare(*graph.add_input(), "x", {2});
  declare(*graph.add_output(), "y", {2});
  auto& choice = add_node(graph, "If", {"which"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& branch = *add_attribute(choice, name, ::onnx::AttributeProto::GRAPH).mutable_g();
    branch.set_name(name);
    declare(*branch.add_output(), std::string("y_") + name, {2});
    add_node(branch, "Abs", {std::string("n_") + name}, {std::string("y_") + name});
    add_node(branch, "Neg", {"e"}, {std::string("n_") + name});
  }
  add_node(graph, "Exp", {"x"}, {"e"});
  const Graph loaded = parse_message(message).graph;
  CHECK(operators_of(loaded) == "Exp If ");
  const auto* branch = loaded.nodes[1].attribute<std::shared_ptr<const Graph>>("then_branch");
  REQUIRE(branch);
  CHECK(operators_of(**branch) == "Neg Abs ");
}

}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
// Functions of a model, written in ONNX's own text, and what is left of them when it is loaded.
#include <onnx/defs/parser.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "refusal.hpp"

namespace d5::onnx {
namespace {

/// x is 2x3; `body` writes y. `functions`: of domain "f", without their headers.
::onnx::ModelProto message(const std::string& body, const std::vector<std::string>& functions) {
  std::string text =
      "<ir_version: 10, opset_import: [\"\": 20, \"f\": 1]>"
      "g (float[2,3] x) => (float[2,3] y) {" +
      body + "}";
  for (const std::string& function : functions) {
    text += "<opset_import: [\"\": 20, \"f\": 1], domain: \"f\">" + function;
  }
  ::onnx::ModelProto result;
  const auto status = ::onnx::OnnxParser::Parse(result, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return result;
}

Graph loaded(const std::string& body, const std::vector<std::string>& functions) {
  return parse_message(message(body, functions)).graph;
}

const Node& only(const Graph& graph, const std::string& op_type) {
  const auto of_type = [&](const Node& node) { return node.op_type == op_type; };
  REQUIRE(std::count_if(graph.nodes.begin(), graph.nodes.end(), of_type) == 1);
  return *std::find_if(graph.nodes.begin(), graph.nodes.end(), of_type);
}

/// What the graph's only Constant is.
float constant(const Graph& graph) {
  return *only(graph, "Constant").attribute<float>("value_float");
}

const std::string kPlus = "(a) => (b) { c = Constant<value_float: float = @k>() b = Add(a, c) }";

TEST_CASE("a function's node has the attribute that the caller gives") {
  const Graph graph = loaded("y = f.F<slope = 0.25>(x)",
                             {"F<slope>(a) => (b) { b = LeakyRelu<alpha: float = @slope>(a) }"});
  REQUIRE(graph.nodes.size() == 1);
  CHECK(*graph.nodes[0].attribute<float>("alpha") == 0.25f);
  CHECK(graph.nodes[0].inputs == std::vector<std::string>{"x"});
  CHECK(constant(loaded("y = f.F<k = 3.0>(x)", {"F<k>" + kPlus})) == 3);
  CHECK(constant(loaded("y = f.F<k = 3.0>(x)", {"F<k: float = 2.0>" + kPlus})) == 3);
}

TEST_CASE("a function's node has the default of an attribute that the caller leaves out") {
  CHECK(constant(loaded("y = f.F(x)", {"F<k: float = 2.5>" + kPlus})) == 2.5f);
}

TEST_CASE("a function's node lacks an attribute that nobody gives") {
  const Graph graph =
      loaded("y = f.F(x)", {"F<slope>(a) => (b) { b = LeakyRelu<alpha: float = @slope>(a) }"});
  CHECK_FALSE(only(graph, "LeakyRelu").attributes.contains("alpha"));
}

TEST_CASE("functions hand attributes on to those that they call") {
  const std::string outer = "(a) => (b) { b = f.F<k: float = @m>(a) }";
  SECTION("a value of the outermost caller") {
    CHECK(constant(loaded("y = f.G<m = 3.0>(x)", {"F<k>" + kPlus, "G<m>" + outer})) == 3);
  }
  SECTION("a default of the outer function, which is stronger than one of the inner") {
    CHECK(constant(loaded("y = f.G(x)",
                          {"G<m: float = 7.0>" + outer, "F<k: float = 4.0>" + kPlus})) == 7);
  }
  SECTION("nothing, which leaves the inner function its default") {
    CHECK(constant(loaded("y = f.G(x)", {"G<m>" + outer, "F<k: float = 4.0>" + kPlus})) == 4);
  }
}

TEST_CASE("functions are inlined in subgraphs, and subgraphs of functions see its attributes") {
  const std::string plus = "F<k: float = 2.0>" + kPlus;
  SECTION("a call in a branch") {
    const Graph graph = loaded(
        "t = Constant<value = bool {1}>() y = If(t)<"
        "then_branch = p () => (float[2,3] z) { z = f.F<k = 3.0>(x) },"
        "else_branch = q () => (float[2,3] z) { z = f.F(x) }>",
        {plus});
    const Node& choice = only(graph, "If");
    using Branch = std::shared_ptr<const Graph>;
    CHECK(constant(**choice.attribute<Branch>("then_branch")) == 3);
    CHECK(constant(**choice.attribute<Branch>("else_branch")) == 2);
  }
  SECTION("a branch in a function") {
    const Graph graph = loaded(
        "y = f.G(x)", {"G<k: float = 5.0>(a) => (b) { t = Constant<value = bool {1}>() b = If(t)<"
                       "then_branch = p () => (float[2,3] z) {"
                       "  c = Constant<value_float: float = @k>() z = Add(a, c) },"
                       "else_branch = q () => (float[2,3] z) { z = f.F<k: float = @k>(a) }>}",
                       plus});
    const Node& choice = only(graph, "If");
    for (const char* name : {"then_branch", "else_branch"}) {
      const Graph& branch = **choice.attribute<std::shared_ptr<const Graph>>(name);
      CHECK(constant(branch) == 5);
      CHECK(only(branch, "Add").inputs[0] == "x");
    }
  }
}

TEST_CASE("names inside of a function meet none outside") {
  const Graph graph =
      loaded("c = Neg(x) d = f.F<k = 3.0>(c) y = f.F<k = 4.0>(d)", {"F<k>" + kPlus});
  std::set<std::string> names;
  for (const Node& node : graph.nodes) CHECK(names.insert(node.outputs.at(0)).second);
  CHECK(names.size() == 5);
  CHECK(graph.nodes[2].inputs == std::vector<std::string>{"c", graph.nodes[1].outputs[0]});
  CHECK(graph.nodes[4].inputs == std::vector<std::string>{"d", graph.nodes[3].outputs[0]});
}

TEST_CASE("overloads of a function are told apart") {
  auto model = message("y = f.F(x)", {"F(a) => (b) { b = f.F(a) }", "F(a) => (b) { b = Relu(a) }"});
  model.mutable_functions(1)->set_overload("plain");
  model.mutable_functions(0)->mutable_node(0)->set_overload("plain");
  CHECK(parse_message(model).graph.nodes.at(0).op_type == "Relu");
}

TEST_CASE("functions that call each other without end are refused") {
  const auto model =
      message("y = f.F(x)", {"F(a) => (b) { b = f.G(a) }", "G(a) => (b) { b = f.F(a) }"});
  CHECK_THAT(refusal<FormatError>(model), Catch::Contains("calls itself"));
}

TEST_CASE("a default that is a graph is refused") {
  auto model = message("y = f.F(x)", {"F<k: float = 2.0>" + kPlus});
  auto& attribute = *model.mutable_functions(0)->mutable_attribute_proto(0);
  attribute.clear_f();
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name("g");
  CHECK_THAT(refusal<Unsupported>(model), Catch::Contains("passes a graph to function 'F'"));
}

}  // namespace
}  // namespace d5::onnx

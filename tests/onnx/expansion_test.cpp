// SPDX-License-Identifier: Apache-2.0
// Small files that stand for large graphs.
#include <catch2/catch.hpp>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "refusal.hpp"

namespace d5::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

/// `levels` functions, each of which calls the next `calls` times.
ModelProto function_bomb(int levels, int calls) {
  auto message = relu_message();
  auto& import = *message.add_opset_import();
  import.set_domain("f");
  import.set_version(1);
  for (int level = 0; level < levels; ++level) {
    auto& function = *message.add_functions();
    function.set_name("F" + std::to_string(level));
    function.set_domain("f");
    function.add_input("t0");
    function.add_output("t" + std::to_string(calls));
    *function.add_opset_import() = message.opset_import(0);
    *function.add_opset_import() = import;
    for (int i = 0; i < calls; ++i) {
      const bool last = level + 1 == levels;
      auto& node = add_node(function, last ? "Relu" : "F" + std::to_string(level + 1),
                            {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)});
      if (!last) node.set_domain("f");
    }
  }
  auto& call = *message.mutable_graph()->mutable_node(0);
  call.set_op_type("F0");
  call.set_domain("f");
  return message;
}

TEST_CASE("functions that expand without bound are refused before they expand") {
  SECTION("9 levels of 9 calls") {
    CHECK_THAT(refusal<FormatError>(function_bomb(9, 9)), Catch::Contains("387420489 nodes"));
  }
  SECTION("so many that the number overflows") {
    CHECK_THAT(refusal<FormatError>(function_bomb(90, 9)), Catch::Contains("nodes"));
  }
  SECTION("a chain without branches") {
    CHECK_THAT(refusal<FormatError>(function_bomb(3000, 1)), Catch::Contains("more than 100"));
  }
  SECTION("a function that calls itself") {
    auto message = function_bomb(3, 2);
    message.mutable_functions(2)->mutable_node(0)->set_op_type("F0");
    message.mutable_functions(2)->mutable_node(0)->set_domain("f");
    CHECK_THAT(refusal<FormatError>(message), Catch::Contains("calls itself"));
  }
  SECTION("few nodes with large constants") {
    auto message = function_bomb(5, 9);
    auto& leaf = *message.mutable_functions(4)->mutable_node(0);
    leaf.set_doc_string(std::string(std::size_t{1} << 20, 'x'));
    const std::size_t budget = memory_budget();
    set_memory_budget(std::size_t{1} << 30);
    refusal<MemoryError>(message);
    set_memory_budget(budget);
  }
  SECTION("few nodes with a large default, which every call is given") {
    auto message = function_bomb(5, 9);
    auto& attribute = *message.mutable_functions(4)->add_attribute_proto();
    attribute.set_name("text");
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(std::string(std::size_t{1} << 20, 'x'));
    const std::size_t budget = memory_budget();
    set_memory_budget(std::size_t{1} << 30);
    refusal<MemoryError>(message);
    set_memory_budget(budget);
  }
  SECTION("within the limit they are inlined") {
    CHECK(parse_message(function_bomb(3, 9)).graph.nodes.size() == 729);
  }
}

/// If in If in If, each in both branches' place.
ModelProto nested(int depth, const char* op_type = "If") {
  auto message = relu_message();
  declare(*message.mutable_graph()->add_input(), "b", {}, TensorProto::BOOL);
  ::onnx::GraphProto graph;
  graph.set_name("i");
  add_node(graph, "Relu", {"x"}, {"leaf"});
  graph.add_output()->set_name("leaf");
  for (int level = 0; level < depth; ++level) {
    ::onnx::GraphProto outer;
    outer.set_name("i");
    const std::string name = "t" + std::to_string(level);
    const bool last = level + 1 == depth;
    auto& holder = last ? *message.mutable_graph() : outer;
    if (std::string(op_type) == "If") {
      auto& node = add_node(holder, "If", {"b"}, {name});
      ::onnx::GraphProto other;
      other.set_name("e");
      add_node(other, "Relu", {"x"}, {"e" + std::to_string(level)});
      other.add_output()->set_name("e" + std::to_string(level));
      *add_attribute(node, "then_branch", AttributeProto::GRAPH).mutable_g() = graph;
      *add_attribute(node, "else_branch", AttributeProto::GRAPH).mutable_g() = other;
    } else {
      auto& node = add_node(holder, "Loop", {"", "b", "x"}, {name});
      const std::string id = std::to_string(level);
      declare(*graph.add_input(), "n" + id, {}, TensorProto::INT64);
      declare(*graph.add_input(), "c" + id, {}, TensorProto::BOOL);
      declare(*graph.add_input(), "s" + id, {2, 3});
      add_node(graph, "Identity", {"c" + id}, {"o" + id});
      ::onnx::ValueInfoProto value = graph.output(0);
      graph.clear_output();
      graph.add_output()->set_name("o" + id);
      *graph.add_output() = value;
      *add_attribute(node, "body", AttributeProto::GRAPH).mutable_g() = graph;
    }
    outer.add_output()->set_name(name);
    graph = outer;
  }
  return message;
}

TEST_CASE("subgraphs may nest, but not without end") {
  for (const char* op_type : {"If", "Loop"}) {
    INFO(op_type);
    CHECK_NOTHROW(parse_message(nested(20, op_type)));
    LoadOptions options;
    options.most_nesting = 10;
    CHECK_THAT(refusal<FormatError>(nested(11, op_type), options), Catch::Contains("nest 11 deep"));
    CHECK_NOTHROW(parse_message(nested(10, op_type), options));
    refusal<FormatError>(nested(200, op_type));
  }
}

}  // namespace
}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
// Files made to do harm: each meets a typed error that names the file, and meets it soon.

#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "refusal.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

TEST_CASE("bytes that are no model are refused") {
  for (const std::string text : {"", "hello",
                                 "\x7f"
                                 "ELF"}) {
    CHECK_THROWS_AS(parse(bytes_of(text), "f"), FormatError);
  }
  CHECK_THROWS_AS(load("/nowhere/model.onnx"), IoError);
  CHECK_THROWS_AS(load(fs::temp_directory_path().string()), IoError);
}

TEST_CASE("an equation of other than letters ends the reading of its file") {
  for (const char* equation : {"a\xe1i", "{}[]", "ab.c", "a....", "i2,i->", "......"}) {
    CAPTURE(equation);
    auto message = model_message();
    auto& graph = *message.mutable_graph();
    declare(*graph.add_input(), "x", {2, 3, 4});
    declare(*graph.add_output(), "y", {2});
    auto& attribute = *add_node(graph, "Einsum", {"x"}, {"y"}).add_attribute();
    attribute.set_name("equation");
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(equation);
    CHECK(parse(bytes_of(message.SerializeAsString()), "f").graph.nodes.size() == 1);
  }
}

TEST_CASE("a file above the limit is not parsed") {
  LoadOptions options;
  options.most_file_bytes = 10;
  CHECK_THAT(refusal<FormatError>(relu_message(), options), Catch::Contains("most_file_bytes"));
}

TEST_CASE("versions that d5 does not know are refused, with a way out") {
  auto message = relu_message();
  SECTION("opset 29") {
    message.mutable_opset_import(0)->set_version(29);
    CHECK_THAT(refusal<Unsupported>(message),
               Catch::Contains("version 29 of ai.onnx") && Catch::Contains("version_converter"));
  }
  SECTION("IR version 15") {
    message.set_ir_version(15);
    CHECK_THAT(refusal<Unsupported>(message), Catch::Contains("IR version is 15"));
  }
  SECTION("opset 0") {
    message.mutable_opset_import(0)->set_version(0);
    refusal<FormatError>(message);
  }
  SECTION("no IR version") {
    message.clear_ir_version();
    refusal<FormatError>(message);
  }
  SECTION("another domain's") {
    auto& import = *message.add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(99);
    CHECK_THAT(refusal<Unsupported>(message), Catch::Contains("ai.onnx.ml"));
  }
  SECTION("two versions of one domain") {
    *message.add_opset_import() = message.opset_import(0);
    message.mutable_opset_import(1)->set_domain("ai.onnx");
    message.mutable_opset_import(1)->set_version(7);
    refusal<FormatError>(message);
  }
}

TEST_CASE("every opset from 1 to the newest loads") {
  for (int opset = 1; opset <= kNewestOpset; ++opset) {
    auto message = relu_message();
    message.mutable_opset_import(0)->set_version(opset);
    CHECK(parse_message(message).graph.nodes.at(0).opset == opset);
  }
}

TEST_CASE("graphs that cannot run in their order are refused") {
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  SECTION("a cycle") {
    graph.mutable_node(0)->set_input(0, "h");
    add_node(graph, "Relu", {"y"}, {"h"});
  }
  SECTION("an undefined name") { graph.mutable_node(0)->set_input(0, "nobody"); }
  SECTION("a name written twice") { add_node(graph, "Tanh", {"x"}, {"y"}); }
  SECTION("an output that nobody writes") { graph.mutable_output(0)->set_name("z"); }
  SECTION("an output without a name") { graph.add_output(); }
  SECTION("an input that is listed twice") { *graph.add_input() = graph.input(0); }
  SECTION("an input without a name") { graph.mutable_input(0)->clear_name(); }
  SECTION("a name of an input that a node writes") { add_node(graph, "Tanh", {"x"}, {"x"}); }
  SECTION("two initializers of one name with other data") {
    for (int i = 0; i < 2; ++i) add_weights(message, {1}).add_float_data(float(i));
  }
  SECTION("an initializer with data in two fields") {
    auto& tensor = add_weights(message, {1});
    tensor.add_float_data(1);
    tensor.set_raw_data(std::string(4, '\0'));
  }
  SECTION("an attribute twice") {
    graph.mutable_node(0)->set_op_type("LeakyRelu");
    for (int i = 0; i < 2; ++i) {
      add_attribute(*graph.mutable_node(0), "alpha", AttributeProto::FLOAT).set_f(float(i));
    }
  }
  SECTION("an attribute with two values") {
    graph.mutable_node(0)->set_op_type("LeakyRelu");
    auto& alpha = add_attribute(*graph.mutable_node(0), "alpha", AttributeProto::FLOAT);
    alpha.set_f(1);
    alpha.set_i(1);
  }
  SECTION("an attribute of another type than it says") {
    graph.mutable_node(0)->set_op_type("LeakyRelu");
    add_attribute(*graph.mutable_node(0), "alpha", AttributeProto::FLOAT).set_i(1);
  }
  SECTION("a node without an operator") { graph.mutable_node(0)->clear_op_type(); }
  SECTION("no import of ai.onnx beside another") {
    message.mutable_opset_import(0)->set_domain("com.microsoft");
    message.mutable_opset_import(0)->set_version(1);
  }
  SECTION("a name of the graph around that a graph within writes") {
    declare(*graph.add_input(), "c", {}, TensorProto::BOOL);
    auto& node = add_node(graph, "If", {"c"}, {"z"});
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto& inner = *add_attribute(node, branch, AttributeProto::GRAPH).mutable_g();
      inner.set_name("i");
      add_node(inner, "Relu", {"x"}, {"y"});
      inner.add_output()->set_name("y");
    }
  }
  SECTION("an operator that ONNX does not know") { graph.mutable_node(0)->set_op_type("Rleu"); }
  SECTION("too many inputs") { graph.mutable_node(0)->add_input("x"); }
  SECTION("no graph") { message.clear_graph(); }
  refusal<FormatError>(message);
}

TEST_CASE("control characters in names are escaped in messages") {
  auto message = relu_message();
  SECTION("of a tensor") { message.mutable_graph()->mutable_node(0)->set_input(0, "\x1b[2J\n"); }
  SECTION("of a tensor, as one character of two bytes") {
    message.mutable_graph()->mutable_node(0)->set_input(0,
                                                        "\xc2\x9b"
                                                        "2J");
  }
  SECTION("of an output") {
    message.mutable_graph()->mutable_output(0)->set_name("\x1b]0;evil\x07");
    *message.mutable_graph()->add_output() = message.graph().output(0);
  }
  SECTION("of a node with a bad attribute") {
    auto& node = *message.mutable_graph()->mutable_node(0);
    node.set_op_type("Concat");
    node.set_name("\x1b[31mred");
    add_int(node, "axis", std::int64_t{1} << 62);
  }
  const std::string words = refusal<FormatError>(message);
  for (const char c : words) CHECK(static_cast<unsigned char>(c) >= 0x20);
  CHECK(words.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("dimensions that do not fit the data are refused before memory is taken") {
  auto message = relu_message();
  SECTION("more elements than data") { add_weights(message, {1000}).add_float_data(1); }
  SECTION("fewer elements than data") {
    add_weights(message, {2}).mutable_raw_data()->assign(12, 'x');
  }
  SECTION("a product that overflows") {
    add_weights(message, {std::int64_t{1} << 40, std::int64_t{1} << 40}).add_float_data(1);
  }
  SECTION("a negative one") { add_weights(message, {-1}).add_float_data(1); }
  SECTION("an unknown element type") { add_weights(message, {1}).set_data_type(99); }
  SECTION("nothing declared in an attribute") {
    auto& node = add_node(*message.mutable_graph(), "Constant", {}, {"c"});
    auto& tensor = *add_attribute(node, "value", AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(std::int64_t{1} << 60);
  }
  refusal<FormatError>(message);
}

TEST_CASE("more bits than an element has are refused") {
  auto message = relu_message();
  auto& weights = add_weights(message, {1});
  weights.set_data_type(TensorProto::FLOAT6E2M3);
  weights.add_int32_data(64);
  CHECK_THAT(refusal<FormatError>(message), Catch::Contains("bits 0-5"));
}

TEST_CASE("a sparse tensor that would fill the memory is refused") {
  auto message = relu_message();
  auto& sparse = *message.mutable_graph()->add_sparse_initializer();
  for (int i = 0; i < 2; ++i) sparse.add_dims(std::int64_t{1} << 28);
  auto& values = *sparse.mutable_values();
  values.set_name("w");
  values.set_data_type(TensorProto::FLOAT);
  values.add_dims(1);
  values.add_float_data(1);
  auto& indices = *sparse.mutable_indices();
  indices.set_data_type(TensorProto::INT64);
  indices.add_dims(1);
  indices.add_int64_data(3);
  CHECK_THAT(refusal<MemoryError>(message), Catch::Contains("memory budget"));
}

TEST_CASE("attributes that no operator can mean are refused") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {1, 4, 8, 8});
  declare(*graph.add_input(), "w", {4, 4, 3, 3});
  declare(*graph.add_output(), "y", {1, 4, 8, 8});
  auto& node = add_node(graph, "Conv", {"x", "w"}, {"y"});
  node.set_name("conv1");
  const std::int64_t huge = std::int64_t{1} << 62;
  std::string attribute;
  SECTION("group 0") { add_int(node, attribute = "group", 0); }
  SECTION("a group below 0") { add_int(node, attribute = "group", -huge); }
  SECTION("a kernel of 2^62") { add_ints(node, attribute = "kernel_shape", {huge, huge}); }
  SECTION("a kernel of 0") { add_ints(node, attribute = "kernel_shape", {0, 3}); }
  SECTION("strides of 0") { add_ints(node, attribute = "strides", {0, 1}); }
  SECTION("negative dilations") { add_ints(node, attribute = "dilations", {-1, 1}); }
  SECTION("negative pads") { add_ints(node, attribute = "pads", {0, 0, -1, 0}); }
  SECTION("pads for another number of dimensions") {
    add_ints(node, "kernel_shape", {3, 3});
    add_ints(node, attribute = "pads", {1, 1});
  }
  const std::string words = refusal<FormatError>(message);
  CHECK_THAT(words, Catch::Contains("Conv 'conv1'") && Catch::Contains(attribute) &&
                        Catch::Contains("expected"));
}

TEST_CASE("attributes of other operators have their ranges too") {
  auto message = model_message(12);
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {4, 4});
  declare(*graph.add_output(), "y", {4, 4});
  auto& node = add_node(graph, "", {"x"}, {"y"});
  const auto as = [&](const char* op_type) -> auto& {
    node.set_op_type(op_type);
    return node;
  };
  SECTION("negative splits") { add_ints(as("Split"), "split", {-4, 8}); }
  SECTION("a permutation that repeats itself") { add_ints(as("Transpose"), "perm", {0, 0}); }
  SECTION("a permutation out of range") { add_ints(as("Transpose"), "perm", {0, 2}); }
  SECTION("a cast to nothing") { add_int(as("Cast"), "to", 77); }
  SECTION("a cast to a number that no type has") {
    add_int(as("Cast"), "to", (std::int64_t{1} << 32) + 1);
  }
  SECTION("blocks of 0") { add_int(as("SpaceToDepth"), "blocksize", 0); }
  SECTION("a keepdims of 2") { add_int(as("ReduceMax"), "keepdims", 2); }
  SECTION("random numbers without end") {
    node.clear_input();
    add_ints(as("RandomNormal"), "shape", {std::int64_t{1} << 31, std::int64_t{1} << 31});
  }
  SECTION("a node in a subgraph") {
    as("Relu");
    auto& inner =
        *add_attribute(add_node(graph, "If", {"x"}, {"z"}), "then_branch", AttributeProto::GRAPH)
             .mutable_g();
    inner.set_name("i");
    add_int(add_node(inner, "SpaceToDepth", {"x"}, {"s"}), "blocksize", -1);
    inner.add_output()->set_name("s");
    auto& other = *graph.mutable_node(1)->add_attribute();
    other = graph.node(1).attribute(0);
    other.set_name("else_branch");
  }
  refusal<FormatError>(message);
}

TEST_CASE("types that nest without end are refused") {
  auto message = relu_message();
  auto* type = message.mutable_graph()->mutable_input(0)->mutable_type();
  for (int i = 0; i < 5000; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
  refusal<FormatError>(message);
}

}  // namespace
}  // namespace d5::onnx

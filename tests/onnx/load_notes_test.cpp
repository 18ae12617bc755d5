// SPDX-License-Identifier: Apache-2.0
// Files that leave out what ONNX asks for, or say it twice, as exporters write them and ONNX
// Runtime runs them: each is read, with a note.
#include "d5/onnx/load_notes.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "refusal.hpp"

namespace d5::onnx {
namespace {

using Catch::Contains;
using ::onnx::AttributeProto;
using ::onnx::TensorProto;

/// The notes while it lives.
class Notes {
 public:
  Notes() {
    listen_to_notes([this](const std::string& file, const std::string& note) {
      CHECK(file == "test.onnx");
      notes_.push_back(note);
    });
  }
  ~Notes() { listen_to_notes({}); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  [[nodiscard]] const std::vector<std::string>& all() const { return notes_; }
  [[nodiscard]] std::string only() const {
    REQUIRE(notes_.size() == 1);
    return notes_.front();
  }

 private:
  std::vector<std::string> notes_;
};

::onnx::NodeProto& only_node(::onnx::ModelProto& message) {
  return *message.mutable_graph()->mutable_node(0);
}

TEST_CASE("a file as ONNX asks for has no notes") {
  const Notes notes;
  (void)parse_message(relu_message());
  CHECK(notes.all().empty());
}

TEST_CASE("a graph without a name is called 'graph'") {
  const Notes notes;
  auto message = relu_message();
  message.mutable_graph()->clear_name();
  CHECK(parse_message(message).graph.name == "graph");
  CHECK_THAT(notes.only(), Contains("has no name"));
}

TEST_CASE("a graph within a node that has no name is called as its attribute") {
  const Notes notes;
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "c", {}, TensorProto::BOOL);
  auto& node = only_node(message);
  node.set_op_type("If");
  node.set_input(0, "c");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& inner = *add_attribute(node, branch, AttributeProto::GRAPH).mutable_g();
    add_node(inner, "Relu", {"x"}, {branch});
    inner.add_output()->set_name(branch);
  }
  const Model model = parse_message(message);
  const auto* inner =
      model.graph.nodes.at(0).attribute<std::shared_ptr<const Graph>>("else_branch");
  CHECK((*inner)->name == "else_branch");
  CHECK_THAT(notes.only(), Contains("'y'"));
}

TEST_CASE("outputs without type or shape are what the operators make of them") {
  const Notes notes;
  auto message = relu_message();
  auto& output = *message.mutable_graph()->mutable_output(0);
  SECTION("no type") {
    output.clear_type();
    CHECK(to_string(parse_message(message).graph.outputs.at(0).type) == "float32 2x3");
    CHECK_THAT(notes.only(), Contains("output 'y' declares no type"));
  }
  SECTION("no shape") {
    output.mutable_type()->mutable_tensor_type()->clear_shape();
    CHECK(to_string(parse_message(message).graph.outputs.at(0).type) == "float32 2x3");
    CHECK_THAT(notes.only(), Contains("output 'y' declares no shape"));
  }
}

TEST_CASE("inputs without a shape are of any, and sizes below 0 are open") {
  const Notes notes;
  auto message = relu_message();
  auto& type = *message.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  SECTION("no shape") {
    type.clear_shape();
    CHECK_FALSE(parse_message(message).graph.inputs.at(0).type.has_shape);
    CHECK_THAT(notes.only(), Contains("input 'x' declares no shape"));
  }
  SECTION("-2") {
    type.mutable_shape()->mutable_dim(0)->set_dim_value(-2);
    CHECK(to_string(parse_message(message).graph.inputs.at(0).type) == "float32 ?x3");
    CHECK_THAT(notes.only(), Contains("'x'") && Contains("below 0"));
  }
  SECTION("-1, which many write") {
    type.mutable_shape()->mutable_dim(0)->set_dim_value(-1);
    CHECK(to_string(parse_message(message).graph.inputs.at(0).type) == "float32 ?x3");
    CHECK(notes.all().empty());
  }
}

TEST_CASE("many names are shown by the first of them") {
  const Notes notes;
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  for (const char* name : {"a", "b", "c", "d"}) {
    add_node(graph, "Neg", {"x"}, {name});
    graph.add_output()->set_name(name);
  }
  (void)parse_message(message);
  CHECK_THAT(notes.only(), Contains("outputs 'a', 'b', 'c' and 1 other declare no type"));
}

TEST_CASE("an operator of a domain that is not imported is of the newest version that has it") {
  const Notes notes;
  auto message = relu_message();
  auto& node = only_node(message);
  SECTION("com.microsoft has one") {
    node.set_op_type("Gelu");
    node.set_domain("com.microsoft");
    CHECK(parse_message(message).graph.nodes.at(0).opset == 1);
    CHECK_THAT(notes.only(), Contains("no version of com.microsoft; 1 is taken"));
  }
  SECTION("ai.onnx.ml took tree ensembles of regressors back in version 5") {
    node.set_op_type("TreeEnsembleRegressor");
    node.set_domain("ai.onnx.ml");
    CHECK(parse_message(message).graph.nodes.at(0).opset == 4);
  }
  SECTION("a function of the model") {
    node.set_op_type("F");
    node.set_domain("own");
    auto& function = *message.add_functions();
    function.set_name("F");
    function.set_domain("own");
    function.add_input("a");
    function.add_output("b");
    add_node(function, "Relu", {"a"}, {"b"});
    *function.add_opset_import() = message.opset_import(0);
    CHECK(parse_message(message).graph.nodes.at(0).op_type == "Relu");
    CHECK_THAT(notes.only(), Contains("no version of own"));
  }
}

TEST_CASE("an output that is listed again is an output of its own, with the same values") {
  const Notes notes;
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  *graph.add_output() = graph.output(0);
  const Graph read = parse_message(message).graph;
  REQUIRE(read.outputs.size() == 2);
  CHECK(read.outputs[0].name == "y");
  CHECK(read.outputs[1].name == "y_2");
  REQUIRE(read.nodes.size() == 2);
  CHECK(read.nodes[1].op_type == "Identity");
  CHECK(read.nodes[1].inputs == std::vector<std::string>{"y"});
  CHECK_THAT(notes.only(), Contains("output 'y' is listed twice; the second is called 'y_2'"));
}

TEST_CASE("an output that is listed again takes no name that is there") {
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  add_node(graph, "Neg", {"x"}, {"y_2"});
  for (int i = 0; i < 2; ++i) *graph.add_output() = graph.output(0);
  const Graph read = parse_message(message).graph;
  REQUIRE(read.outputs.size() == 3);
  CHECK(read.outputs[1].name == "y_3");
  CHECK(read.outputs[2].name == "y_4");
}

TEST_CASE("initializers that nothing can read, or that say the same again, are left out") {
  const Notes notes;
  auto message = relu_message();
  auto& first = add_weights(message, {1});
  first.add_float_data(3);
  SECTION("without a name") {
    first.clear_name();
    CHECK(parse_message(message).graph.initializers.empty());
    CHECK_THAT(notes.only(), Contains("no name"));
  }
  SECTION("twice the same") {
    add_weights(message, {1}).add_float_data(3);
    CHECK(parse_message(message).graph.initializers.at("w").item<float>() == 3);
    CHECK_THAT(notes.only(), Contains("twice") && Contains("'w'"));
  }
}

TEST_CASE("entries outside the range of their type are its bits") {  // numpy_helper.to_array
  const Notes notes;
  auto message = relu_message();
  auto& tensor = add_weights(message, {2});
  const auto read = [&](TensorProto::DataType type, int entry) {
    tensor.set_data_type(type);
    tensor.clear_int32_data();
    tensor.add_int32_data(1);
    tensor.add_int32_data(entry);
    return parse_message(message).graph.initializers.at("w");
  };
  CHECK(read(TensorProto::INT8, 200).span<std::int8_t>()[1] == -56);
  CHECK(read(TensorProto::UINT8, -1).span<std::uint8_t>()[1] == 255);
  CHECK(read(TensorProto::INT16, 40000).span<std::int16_t>()[1] == -25536);
  CHECK(read(TensorProto::UINT16, -1).span<std::uint16_t>()[1] == 65535);
  REQUIRE(notes.all().size() == 4);
  CHECK_THAT(notes.all()[0], Contains("'w'") && Contains("int8"));
  CHECK(read(TensorProto::INT8, -128).span<std::int8_t>()[1] == -128);
  CHECK(notes.all().size() == 4);
  CHECK_THROWS_AS(read(TensorProto::INT8, 256), FormatError);
  CHECK_THROWS_AS(read(TensorProto::UINT8, -129), FormatError);
  CHECK_THROWS_AS(read(TensorProto::UINT16, 65536), FormatError);
}

TEST_CASE("an IR version that is older than what the file holds is read as the newer one") {
  const Notes notes;
  auto message = relu_message();
  SECTION("initializers that are no inputs") {
    message.set_ir_version(3);
    add_weights(message, {1}).add_float_data(3);
    CHECK(parse_message(message).graph.initializers.contains("w"));
    CHECK_THAT(notes.only(), Contains("'w'") && Contains("IR version 3"));
  }
  SECTION("imports") {
    message.set_ir_version(1);
    CHECK(parse_message(message).graph.nodes.at(0).opset == 20);
    CHECK_THAT(notes.only(), Contains("imports opsets"));
  }
  SECTION("functions") {
    message.set_ir_version(7);
    auto& function = *message.add_functions();
    function.set_name("F");
    function.set_domain("own");
    function.add_input("a");
    function.add_output("b");
    add_node(function, "Tanh", {"a"}, {"b"});
    *function.add_opset_import() = message.opset_import(0);
    auto& import = *message.add_opset_import();
    import.set_domain("own");
    import.set_version(1);
    only_node(message).set_op_type("F");
    only_node(message).set_domain("own");
    CHECK(parse_message(message).graph.nodes.at(0).op_type == "Tanh");
    CHECK_THAT(notes.only(), Contains("has functions"));
  }
}

TEST_CASE("GroupNormalization of opset 18, which ONNX took back, is read as it was") {
  const Notes notes;
  auto message = model_message(18);
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {1, 4, 2});
  declare(*graph.add_input(), "s", {2});
  declare(*graph.add_input(), "b", {2});
  declare(*graph.add_output(), "y", {1, 4, 2});
  add_int(add_node(graph, "GroupNormalization", {"x", "s", "b"}, {"y"}), "num_groups", 2);
  CHECK(parse_message(message).graph.nodes.at(0).opset == 18);
  CHECK_THAT(notes.only(), Contains("GroupNormalization 'y' is of opset 18"));
}

TEST_CASE("an operator that ended is refused") {
  auto message = relu_message();
  message.mutable_opset_import(0)->set_version(11);
  only_node(message).set_op_type("Scatter");
  CHECK_THAT(refusal<FormatError>(message), Contains("Scatter 'y': opset 11 of ai.onnx"));
}

TEST_CASE("metadata that are there twice are those of the last") {
  const Notes notes;
  auto message = relu_message();
  for (const char* value : {"1", "2"}) {
    auto& entry = *message.add_metadata_props();
    entry.set_key("k");
    entry.set_value(value);
  }
  CHECK(parse_message(message).metadata.at("k") == "2");
  CHECK_THAT(notes.only(), Contains("metadata 'k'"));
}

TEST_CASE("a foreign domain may count its versions from 0") {
  auto message = relu_message();
  auto& import = *message.add_opset_import();
  import.set_domain("org.example");
  import.set_version(0);
  CHECK(parse_message(message).opset_imports.at("org.example") == 0);
}

TEST_CASE("what a listener throws ends the loading, and control characters are escaped") {
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  graph.mutable_node(0)->set_output(0, "\x1b[2J");
  graph.mutable_output(0)->set_name("\x1b[2J");
  graph.mutable_output(0)->clear_type();
  listen_to_notes([](const std::string&, const std::string& note) {
    for (const char c : note) CHECK(static_cast<unsigned char>(c) >= 0x20);
    throw std::runtime_error("heard");
  });
  CHECK_THROWS_WITH(parse_message(message), "heard");
  listen_to_notes({});
  CHECK_NOTHROW(parse_message(message));
}

}  // namespace
}  // namespace d5::onnx

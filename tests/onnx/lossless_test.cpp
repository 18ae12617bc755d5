// SPDX-License-Identifier: Apache-2.0
// What a file says is saved again, also what d5 has no word for. Compared are ONNX's own messages,
// up to the normal forms that docs/reference/file_formats.md lists.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "message_difference.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::ModelProto;

std::string lost(const ModelProto& original) {
  const std::string bytes = original.SerializeAsString();
  return difference(original, serialize(parse_file(bytes_of(bytes), "test.onnx")));
}

std::vector<std::string> models_in(const fs::path& root) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".onnx") files.push_back(entry.path().string());
  }
  return files;
}

struct Count {
  int same = 0, with_functions = 0, with_sparse = 0, untyped = 0;
};

/// What has become other nodes, other tensors, or what only old files lack, is not compared.
bool has_another_form(const ModelProto& model, Count& count) {
  if (model.functions_size() > 0) return ++count.with_functions > 0;
  if (model.graph().sparse_initializer_size() > 0) return ++count.with_sparse > 0;
  return model.ir_version() < 2 && ++count.untyped > 0;
}

TEST_CASE("every file of ONNX's backend tests, and the shared networks, are saved as they were") {
  std::vector<std::string> files;
  for (const char* root : {std::getenv("D5_ONNX_CASES"), std::getenv("D5_DATA_DIR")}) {
    if (root == nullptr || !fs::is_directory(root)) {
      WARN("D5_ONNX_CASES or D5_DATA_DIR names no folder: its files are left out");
      continue;
    }
    for (auto& file : models_in(root)) files.push_back(std::move(file));
  }
  Count count;
  for (const std::string& file : files) {
    INFO(file);
    ModelProto original;
    REQUIRE(original.ParseFromString(read_file(file)));
    if (has_another_form(original, count)) continue;
    const std::string differences = difference(original, serialize(load_file(file)));
    CHECK(differences == "");
    ++count.same;
  }
  INFO(count.same << " files compared, " << count.with_functions << " with functions, "
                  << count.with_sparse << " with sparse initializers, " << count.untyped
                  << " of IR version 1");
  CHECK(count.same + 100 >= int(files.size()));
}

::onnx::StringStringEntryProto entry(const std::string& key, const std::string& value) {
  ::onnx::StringStringEntryProto result;
  result.set_key(key);
  result.set_value(value);
  return result;
}

template <class Message>
void add_unknown(Message& message, const std::string& text) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(4000, text);
}

/// y = Relu(x * w), with something to say at every place where a file may say it.
ModelProto talkative() {
  ModelProto model = model_message();
  model.set_producer_name("exporter");
  model.set_domain("org.example");
  model.set_model_version(7);
  model.set_doc_string("a model");
  *model.add_metadata_props() = entry("licence", "free");
  auto& import = *model.add_opset_import();
  import.set_domain("org.unused");
  import.set_version(3);
  add_unknown(model, "of the model");
  auto& training = *model.add_training_info();
  training.mutable_algorithm()->set_name("step");
  *training.add_update_binding() = entry("w", "w_new");
  auto& graph = *model.mutable_graph();
  graph.set_doc_string("a graph");
  *graph.add_metadata_props() = entry("source", "page 3");
  add_unknown(graph, "of the graph");
  declare(*graph.add_input(), "w2", {3});
  declare(*graph.add_input(), "x", {2, 3});
  declare(*graph.add_input(), "w1", {3});
  graph.mutable_input(1)->set_doc_string("an image");
  graph.mutable_input(1)->mutable_type()->set_denotation("IMAGE");
  auto& shape = *graph.mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("N");
  shape.mutable_dim(0)->set_denotation("DATA_BATCH");
  *graph.mutable_input(1)->add_metadata_props() = entry("mean", "0.5");
  add_unknown(*graph.mutable_input(1), "of the input");
  declare(*graph.add_output(), "y", {2, 3});
  graph.mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("N");
  graph.mutable_output(0)->set_doc_string("an answer");
  for (const char* name : {"w2", "w1", "a_scale"}) {  // not in the order of the alphabet
    auto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(3);
    for (int i = 0; i < 3; ++i) tensor.add_float_data(float(i));
    tensor.set_doc_string(std::string("weights ") + name);
    *tensor.add_metadata_props() = entry("layer", name);
    add_unknown(tensor, name);
  }
  auto& product = add_node(graph, "Mul", {"x", "w1"}, {"h"});
  product.set_name("product");
  product.set_doc_string("a product");
  product.set_overload("fast");
  *product.add_metadata_props() = entry("line", "12");
  product.add_device_configurations()->set_configuration_id("two");
  add_unknown(product, "of a node");
  auto& constant = add_node(graph, "Constant", {}, {"c"});
  auto& value = *add_attribute(constant, "value", ::onnx::AttributeProto::TENSOR).mutable_t();
  value.set_name("one");
  value.set_data_type(::onnx::TensorProto::FLOAT);
  value.add_float_data(1);
  constant.mutable_attribute(0)->set_doc_string("a constant");
  add_node(graph, "Add", {"h", "c"}, {"g"});
  add_node(graph, "Mul", {"g", "w2"}, {"f"});
  add_node(graph, "Relu", {"f"}, {"y"});
  declare(*graph.add_value_info(), "h", {2, 3});
  *graph.mutable_value_info(0)->add_metadata_props() = entry("range", "6");
  auto& annotation = *graph.add_quantization_annotation();
  annotation.set_tensor_name("h");
  *annotation.add_quant_parameter_tensor_names() = entry("SCALE_TENSOR", "a_scale");
  return model;
}

TEST_CASE("what d5 has no word for is saved where it was") { CHECK(lost(talkative()) == ""); }

TEST_CASE("fields newer than d5 are saved where they were") {
  const ModelProto original = talkative();
  ModelProto saved;
  const std::string bytes = original.SerializeAsString();
  REQUIRE(saved.ParseFromString(serialize(parse_file(bytes_of(bytes), "test.onnx"))));
  const auto unknown = [](const auto& message) {
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    return fields.field_count() == 1 ? fields.field(0).length_delimited() : "";
  };
  CHECK(unknown(saved) == "of the model");
  CHECK(unknown(saved.graph()) == "of the graph");
  CHECK(unknown(saved.graph().input(1)) == "of the input");
  CHECK(unknown(saved.graph().node(0)) == "of a node");
  CHECK(unknown(saved.graph().initializer(1)) == "w1");
}

TEST_CASE("what a file says of a graph within a node is saved, too") {
  ModelProto model = model_message();
  auto& graph = *model.mutable_graph();
  declare(*graph.add_input(), "b", {}, ::onnx::TensorProto::BOOL);
  declare(*graph.add_input(), "x", {2});
  declare(*graph.add_output(), "y", {2});
  auto& choice = add_node(graph, "If", {"b"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& inner = *add_attribute(choice, branch, ::onnx::AttributeProto::GRAPH).mutable_g();
    inner.set_name(branch);
    *add_node(inner, "Relu", {"x"}, {branch}).add_metadata_props() = entry("of", branch);
    declare(*inner.add_output(), branch, {2});
    inner.mutable_output(0)->set_doc_string("within");
    *inner.add_metadata_props() = entry("graph", branch);
  }
  CHECK(lost(model) == "");
}

TEST_CASE("a file from before IR version 4 keeps its version while its initializers are inputs") {
  ModelProto model = talkative();
  model.set_ir_version(3);
  declare(*model.mutable_graph()->add_input(), "a_scale", {3});
  CHECK(lost(model) == "");
  ModelFile file = parse_file(bytes_of(model.SerializeAsString()), "test.onnx");
  file.model.graph.initializers.emplace("new", Tensor::of<float>({1}, {1}));
  ModelProto saved;
  REQUIRE(saved.ParseFromString(serialize(file)));
  CHECK(saved.ir_version() == 4);
}

TEST_CASE("an initializer within a node's graph is no input before IR version 4, either") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "which", {}, ::onnx::TensorProto::BOOL);
  declare(*graph.add_output(), "y", {1});
  auto& choice = add_node(graph, "If", {"which"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& branch = *add_attribute(choice, name, ::onnx::AttributeProto::GRAPH).mutable_g();
    branch.set_name(name);
    declare(*branch.add_output(), std::string("y_") + name, {1});
    add_node(branch, "Abs", {std::string("w_") + name}, {std::string("y_") + name});
    auto& w = *branch.add_initializer();
    w.set_name(std::string("w_") + name);
    w.set_data_type(::onnx::TensorProto::FLOAT);
    w.add_dims(1);
    w.add_float_data(-2);
  }
  Model model = parse_message(message);
  model.ir_version = 0;  // a node that is asked for by itself
  ModelProto saved;
  REQUIRE(saved.ParseFromString(serialize(model)));
  CHECK(saved.ir_version() == 4);
}

TEST_CASE("what was said of a node or a tensor goes with it") {
  const std::string bytes = talkative().SerializeAsString();
  ModelFile file = parse_file(bytes_of(bytes), "test.onnx");
  Graph& graph = file.model.graph;
  graph.nodes[0].outputs[0] = graph.nodes[2].inputs[0] = "renamed";
  graph.initializers.at("w2") = Tensor::zeros(DType::float64, {3});
  std::erase_if(graph.values, [](const ValueInfo& value) { return value.name == "h"; });
  ModelProto saved;
  REQUIRE(saved.ParseFromString(serialize(file)));
  CHECK(saved.graph().node(0).metadata_props().empty());
  CHECK(saved.graph().node(1).attribute(0).doc_string() == "a constant");
  CHECK(saved.graph().quantization_annotation().empty());
  REQUIRE(saved.graph().input_size() == 2);  // w2 is no more what the file said it to be
  CHECK(saved.graph().input(1).name() == "w1");
}

}  // namespace
}  // namespace d5::onnx

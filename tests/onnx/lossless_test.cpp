// SPDX-License-Identifier: Apache-2.0
// What a file says is saved again, also what d5 has no word for. Compared are ONNX's own messages,
// up to the normal forms that docs/file_formats.md lists.
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "d5/core/atomic_file.hpp"
#include "messages.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;
using google::protobuf::RepeatedPtrField;
using ::onnx::ModelProto;

/// Values as d5 reads them, raw: round_trip_test.cpp and ONNX's cases hold the reader to its word.
void normalise(::onnx::TensorProto& tensor) {
  if (tensor.data_type() == ::onnx::TensorProto::STRING) return;
  Type type;
  type.kind = ValueKind::tensor;
  const Value value = parse_value(bytes_of(tensor.SerializeAsString()), type, "tensor");
  ::onnx::TensorProto raw;
  raw.ParseFromString(serialize_value(value, ""));
  for (auto* data : {tensor.mutable_float_data()}) data->Clear();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_double_data();
  tensor.set_raw_data(raw.raw_data());
}

template <class T, class Key>
void sort_by(RepeatedPtrField<T>& list, const Key& key) {
  std::sort(list.begin(), list.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
}

void normalise(::onnx::TypeProto& type) {
  if (type.has_sequence_type())
    return normalise(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    return normalise(*type.mutable_optional_type()->mutable_elem_type());
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
    if (dim.has_dim_param() && dim.dim_param().empty()) dim.clear_dim_param();
  }
}

void normalise(::onnx::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) {
    if (node.domain() == "ai.onnx") node.clear_domain();
    sort_by(*node.mutable_attribute(), [](const auto& a) { return a.name(); });
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) normalise(*attribute.mutable_t());
      for (auto& tensor : *attribute.mutable_tensors()) normalise(tensor);
      if (attribute.has_g()) normalise(*attribute.mutable_g());
      for (auto& inner : *attribute.mutable_graphs()) normalise(inner);
    }
  }
  for (auto& tensor : *graph.mutable_initializer()) normalise(tensor);
  for (auto* list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *list) normalise(*value.mutable_type());
  }
}

void normalise(ModelProto& model) {
  if (model.ir_version() < 3) {
    model.set_ir_version(3);
    if (model.opset_import().empty()) model.add_opset_import()->set_version(1);
  }
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain() == "ai.onnx") import.clear_domain();
  }
  sort_by(*model.mutable_opset_import(), [](const auto& import) { return import.domain(); });
  sort_by(*model.mutable_metadata_props(), [](const auto& entry) { return entry.key(); });
  normalise(*model.mutable_graph());
}

/// Inference may say more than the file does, and contradict nothing: what it adds is taken away.
void take_away_inferred(const ::onnx::TypeProto& declared, ::onnx::TypeProto& saved) {
  if (declared.value_case() == ::onnx::TypeProto::VALUE_NOT_SET) {
    saved.clear_value();
  } else if (declared.has_sequence_type() && saved.has_sequence_type()) {
    take_away_inferred(declared.sequence_type().elem_type(),
                       *saved.mutable_sequence_type()->mutable_elem_type());
  } else if (declared.has_optional_type() && saved.has_optional_type()) {
    take_away_inferred(declared.optional_type().elem_type(),
                       *saved.mutable_optional_type()->mutable_elem_type());
  } else if (declared.has_tensor_type() && saved.has_tensor_type()) {
    const auto& before = declared.tensor_type();
    auto& after = *saved.mutable_tensor_type();
    if (!before.has_elem_type() || before.elem_type() == 0) after.clear_elem_type();
    if (!before.has_shape()) return after.clear_shape();
    if (before.shape().dim_size() != after.shape().dim_size()) return;
    for (int i = 0; i < before.shape().dim_size(); ++i) {
      const auto& dim = before.shape().dim(i);
      auto& other = *after.mutable_shape()->mutable_dim(i);
      if (dim.has_dim_value()) continue;
      other.clear_dim_value();
      if (dim.has_dim_param()) {
        other.set_dim_param(dim.dim_param());  // a size in the place of its name
      } else {
        other.clear_dim_param();
      }
    }
  }
}

void take_away_inferred(const RepeatedPtrField<::onnx::ValueInfoProto>& declared,
                        RepeatedPtrField<::onnx::ValueInfoProto>& saved) {
  std::map<std::string, const ::onnx::ValueInfoProto*> by_name;
  for (const auto& value : declared) by_name[value.name()] = &value;
  const auto kept = std::remove_if(saved.begin(), saved.end(), [&](const auto& value) {
    return !by_name.contains(value.name());
  });
  saved.erase(kept, saved.end());
  for (auto& value : saved) {
    take_away_inferred(by_name.at(value.name())->type(), *value.mutable_type());
  }
}

void take_away_inferred(const ::onnx::GraphProto& declared, ::onnx::GraphProto& saved) {
  take_away_inferred(declared.input(), *saved.mutable_input());
  take_away_inferred(declared.output(), *saved.mutable_output());
  take_away_inferred(declared.value_info(), *saved.mutable_value_info());
  for (int i = 0; i < std::min(declared.node_size(), saved.node_size()); ++i) {
    const auto& node = declared.node(i);
    auto& other = *saved.mutable_node(i);
    for (int k = 0; k < std::min(node.attribute_size(), other.attribute_size()); ++k) {
      if (!node.attribute(k).has_g()) continue;
      take_away_inferred(node.attribute(k).g(), *other.mutable_attribute(k)->mutable_g());
    }
  }
}

/// How the file differs from what loading and saving makes of it.
std::string lost(ModelProto original, const std::string& saved_bytes) {
  ModelProto saved;
  REQUIRE(saved.ParseFromString(saved_bytes));
  if (original.producer_name().empty()) {
    saved.clear_producer_name();
    saved.clear_producer_version();
  }
  normalise(original);
  normalise(saved);
  take_away_inferred(original.graph(), *saved.mutable_graph());
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.set_message_field_comparison(google::protobuf::util::MessageDifferencer::EQUIVALENT);
  differencer.ReportDifferencesToString(&differences);
  (void)differencer.Compare(original, saved);
  return differences.substr(0, 2000);
}

std::string lost(const ModelProto& original) {
  const std::string bytes = original.SerializeAsString();
  return lost(original, serialize(parse_file(bytes_of(bytes), "test.onnx")));
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
    const std::string differences = lost(original, serialize(load_file(file)));
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

// SPDX-License-Identifier: Apache-2.0
// What is written is read again; what ONNX's messages say is what d5 sees.
#include <onnx/checker.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/version.hpp"
#include "messages.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::onnx {
namespace {

using ::onnx::TensorProto;

const Type kTensor = [] {
  Type type;
  type.kind = ValueKind::tensor;
  return type;
}();

Tensor parse_tensor(const TensorProto& message) {
  return parse_value(bytes_of(message.SerializeAsString()), kTensor, "tensor.pb").tensor();
}

/// Elements 0, 1, 2, ... of any type; those of small types wrap.
Tensor counting(DType dtype, const Shape& shape) {
  Tensor result = Tensor::empty(dtype, shape);
  dispatch(AllTypes{}, dtype, "counting", [&]<class T>() {
    int i = 0;
    for (T& element : result.span<T>()) {
      if constexpr (std::is_same_v<T, std::string>) {
        element = "text " + std::to_string(i++);
      } else if constexpr (std::is_same_v<T, bool>) {
        element = i++ % 2 == 0;
      } else {
        element = T(float(i++));
      }
    }
  });
  return result;
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.desc() != b.desc()) return false;
  if (a.dtype() == DType::string) {
    return std::equal(a.span<std::string>().begin(), a.span<std::string>().end(),
                      b.span<std::string>().begin());
  }
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TEST_CASE("a tensor of every element type survives writing and reading") {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = DType(number);
    INFO(name_of(dtype));
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{1}, Shape{3, 5}, Shape{2, 0, 3}, Shape{16}}) {
      const Tensor tensor = counting(dtype, shape);
      const std::string bytes = serialize_value(tensor, "t");
      CHECK(same(parse_value(bytes_of(bytes), kTensor, "t.pb").tensor(), tensor));
      // ONNX itself accepts what was written.
      TensorProto message;
      REQUIRE(message.ParseFromString(bytes));
      CHECK_NOTHROW(::onnx::checker::check_tensor(message, ::onnx::checker::CheckerContext()));
    }
  }
}

TEST_CASE("packed elements lie from the lowest bits up") {
  TensorProto message;
  message.set_data_type(TensorProto::INT4);
  message.add_dims(3);
  SECTION("as raw data") { message.set_raw_data(std::string("\x7f\xf8", 2)); }
  SECTION("a byte an entry of int32_data") {
    message.add_int32_data(0x7f);
    message.add_int32_data(0xf8);
  }
  const Tensor tensor = parse_tensor(message);
  CHECK(int(tensor.data<Int4>()[0]) == -1);
  CHECK(int(tensor.data<Int4>()[1]) == 7);
  CHECK(int(tensor.data<Int4>()[2]) == -8);
}

TEST_CASE("two-bit elements lie four to a byte") {
  TensorProto message;
  message.set_data_type(TensorProto::UINT2);
  message.add_dims(5);
  message.set_raw_data(std::string("\xe4\x02", 2));  // 11 10 01 00, then 10
  const Tensor tensor = parse_tensor(message);
  const int expected[] = {0, 1, 2, 3, 2};
  for (int i = 0; i < 5; ++i) CHECK(int(tensor.data<UInt2>()[i]) == expected[i]);
}

TEST_CASE("six-bit elements lie four to three bytes") {
  TensorProto message;
  message.set_data_type(TensorProto::FLOAT6E3M2);
  message.add_dims(5);
  SECTION("as raw data") {  // 000001, 100010, 000011, 111111, then 010101
    message.set_raw_data(std::string("\x81\x38\xfc\x15", 4));
  }
  SECTION("an entry each in int32_data") {
    for (const int code : {1, 34, 3, 63, 21}) message.add_int32_data(code);
  }
  const Tensor tensor = parse_tensor(message);
  const int expected[] = {1, 34, 3, 63, 21};
  for (int i = 0; i < 5; ++i) CHECK(int(tensor.data<Float6E3M2>()[i].bits) == expected[i]);
}

TEST_CASE("an entry with more bits than its element has is refused") {
  TensorProto message;
  message.set_data_type(TensorProto::FLOAT6E2M3);
  message.add_dims(1);
  message.add_int32_data(64);
  CHECK_THROWS_AS(parse_tensor(message), FormatError);
}

TEST_CASE("small types are read from the wider fields that ONNX keeps them in") {
  TensorProto message;
  message.add_dims(2);
  SECTION("float16 holds its bits in int32_data") {
    message.set_data_type(TensorProto::FLOAT16);
    message.add_int32_data(0x3c00);
    message.add_int32_data(0xc000);
    CHECK(float(parse_tensor(message).data<Float16>()[0]) == 1.0f);
    CHECK(float(parse_tensor(message).data<Float16>()[1]) == -2.0f);
  }
  SECTION("int8 holds its value") {
    message.set_data_type(TensorProto::INT8);
    message.add_int32_data(-128);
    message.add_int32_data(127);
    CHECK(parse_tensor(message).data<std::int8_t>()[0] == -128);
  }
  SECTION("uint32 lies in uint64_data") {
    message.set_data_type(TensorProto::UINT32);
    message.add_uint64_data(0xffffffffu);
    message.add_uint64_data(0);
    CHECK(parse_tensor(message).data<std::uint32_t>()[0] == 0xffffffffu);
  }
  SECTION("complex64 interleaves its parts") {
    message.set_data_type(TensorProto::COMPLEX64);
    for (const float x : {1.0f, 2.0f, 3.0f, 4.0f}) message.add_float_data(x);
    CHECK(parse_tensor(message).data<std::complex<float>>()[1] == std::complex<float>(3, 4));
  }
  SECTION("a bool of 2 is true") {
    message.set_data_type(TensorProto::BOOL);
    message.set_raw_data(std::string("\x02\x00", 2));
    CHECK(static_cast<const std::uint8_t*>(parse_tensor(message).raw())[0] == 1);
  }
  SECTION("a value with more bits than its type is refused") {
    message.set_data_type(TensorProto::INT8);
    message.add_int32_data(256);
    message.add_int32_data(0);
    CHECK_THROWS_AS(parse_tensor(message), FormatError);
  }
}

TEST_CASE("sequences, optionals and maps survive writing and reading") {
  Type sequence_type;
  sequence_type.kind = ValueKind::sequence;
  Type element = kTensor;
  element.dtype = DType::float32;
  sequence_type.element = std::make_shared<const Type>(element);
  Sequence sequence;
  sequence.element = TensorDesc{DType::float32, {2}};
  sequence.values = {Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {3, 4})};

  SECTION("a sequence keeps its values in order") {
    const auto bytes = serialize_value(sequence, "s");
    const Value value = parse_value(bytes_of(bytes), sequence_type, "s.pb");
    REQUIRE(value.sequence().values.size() == 2);
    CHECK(value.sequence().values[1].tensor().data<float>()[0] == 3);
  }
  SECTION("an empty sequence still knows its element's type") {
    Sequence empty;
    empty.element = sequence.element;
    const auto bytes = serialize_value(empty, "s");
    const Value value = parse_value(bytes_of(bytes), sequence_type, "s.pb");
    CHECK(value.sequence().values.empty());
    CHECK(value.sequence().element.tensor.dtype == DType::float32);
  }
  SECTION("an optional that holds nothing is not one that holds something") {
    Type type;
    type.kind = ValueKind::optional;
    type.element = std::make_shared<const Type>(sequence_type);
    Optional none{ValueDesc::sequence_of(sequence.element), nullptr};
    CHECK_FALSE(parse_value(bytes_of(serialize_value(none, "o")), type, "o.pb").optional().value);
    Optional some{ValueDesc::sequence_of(sequence.element),
                  std::make_shared<const Value>(sequence)};
    const Value read = parse_value(bytes_of(serialize_value(some, "o")), type, "o.pb");
    REQUIRE(read.optional().value);
    CHECK(read.optional().value->sequence().values.size() == 2);
  }
  SECTION("a map keeps keys beside values") {
    Type type;
    type.kind = ValueKind::map;
    type.dtype = DType::string;
    type.element = sequence_type.element;
    Map map{std::vector<std::string>{"a", "b"}, std::make_shared<const Value>(sequence)};
    const auto bytes = serialize_value(map, "m");
    const Value value = parse_value(bytes_of(bytes), type, "m.pb");
    CHECK(std::get<std::vector<std::string>>(value.map().keys)[1] == "b");
    CHECK(value.map().values->sequence().values[1].tensor().data<float>()[1] == 4);
  }
  SECTION("keys without values are refused") {
    Type type;
    type.kind = ValueKind::map;
    Map map{std::vector<std::int64_t>{1, 2, 3}, std::make_shared<const Value>(sequence)};
    CHECK_THROWS_AS(parse_value(bytes_of(serialize_value(map, "m")), type, "m.pb"), FormatError);
  }
}

/// A graph with every type of attribute that d5 keeps.
Model full_model() {
  Model model;
  model.ir_version = 10;
  model.opset_imports = {{"", 20}, {"custom", 3}};
  model.producer_name = "d5";
  model.metadata["key"] = "value";
  model.graph.name = "g";
  Type type = kTensor;
  type.dtype = DType::float32;
  type.has_shape = true;
  type.dims = {std::int64_t{2}, std::string("N"), std::monostate()};
  model.graph.inputs = {{"x", type}};
  model.graph.outputs = {{"y", type}};
  model.graph.initializers.emplace("w", counting(DType::int4, {3}));
  Graph inner;
  inner.name = "inner";
  inner.nodes.push_back({"", "Anything", "custom", 3, {"x"}, {"z"}, {}, ""});
  inner.outputs = {{"z", type}};
  Node node{"n", "Anything", "custom", 3, {"x", "", "w"}, {"y"}, {}, "doc"};
  node.attributes["i"] = std::int64_t{-5};
  node.attributes["f"] = 0.1f;
  node.attributes["s"] = std::string("text\x01");
  node.attributes["is"] = std::vector<std::int64_t>{1, 2};
  node.attributes["fs"] = std::vector<float>{};
  node.attributes["ss"] = std::vector<std::string>{"a", ""};
  node.attributes["t"] = counting(DType::float8e4m3fn, {2, 2});
  node.attributes["ts"] = std::vector<Tensor>{counting(DType::string, {2})};
  node.attributes["g"] = std::make_shared<const Graph>(inner);
  node.attributes["type"] = type;
  model.graph.nodes.push_back(std::move(node));
  return model;
}

TEST_CASE("a model survives writing and reading") {
  const Model written = full_model();
  const Model read = parse(bytes_of(serialize(written)), "full.onnx");
  CHECK(read.opset_imports == written.opset_imports);
  CHECK(read.metadata == written.metadata);
  CHECK(to_string(read.graph.inputs.at(0).type) == "float32 2xNx?");
  CHECK(same(read.graph.initializers.at("w"), written.graph.initializers.at("w")));
  REQUIRE(read.graph.nodes.size() == 1);
  const Node& node = read.graph.nodes[0];
  const Node& source = written.graph.nodes[0];
  CHECK(node.inputs == source.inputs);
  CHECK(node.opset == 3);
  CHECK(*node.attribute<std::int64_t>("i") == -5);
  CHECK(*node.attribute<float>("f") == 0.1f);
  CHECK(*node.attribute<std::string>("s") == "text\x01");
  CHECK(*node.attribute<std::vector<std::int64_t>>("is") == std::vector<std::int64_t>{1, 2});
  CHECK(node.attribute<std::vector<float>>("fs")->empty());
  CHECK(node.attribute<std::vector<std::string>>("ss")->size() == 2);
  CHECK(same(*node.attribute<Tensor>("t"), *source.attribute<Tensor>("t")));
  CHECK(same(node.attribute<std::vector<Tensor>>("ts")->at(0),
             source.attribute<std::vector<Tensor>>("ts")->at(0)));
  CHECK((*node.attribute<std::shared_ptr<const Graph>>("g"))->nodes.at(0).op_type == "Anything");
  CHECK(to_string(*node.attribute<Type>("type")) == "float32 2xNx?");
  CHECK(serialize(read) == serialize(parse(bytes_of(serialize(read)), "again.onnx")));
}

TEST_CASE("a file that was made here says so; of one that was read, who made it stays") {
  const auto saved = [](const Model& model) {
    return parse(bytes_of(serialize(model)), "saved.onnx");
  };
  Model model = full_model();
  model.producer_name = model.producer_version = "";
  CHECK(saved(model).producer_name == "d5");
  CHECK(saved(model).producer_version == D5_VERSION);
  model.producer_name = "pytorch";
  model.producer_version = "2.1";
  CHECK(saved(saved(model)).producer_name == "pytorch");
  CHECK(saved(model).producer_version == "2.1");
}

TEST_CASE("saved models pass ONNX's own checker") {
  ::onnx::ModelProto message;
  REQUIRE(message.ParseFromString(serialize(parse_message(relu_message()))));
  CHECK_NOTHROW(::onnx::checker::check_model(message, /*full_check=*/true));
}

TEST_CASE("a saved model loads from its file") {
  const d5::testing::TemporaryFolder folder;
  save(full_model(), folder / "full.onnx");
  CHECK(load(folder / "full.onnx").graph.nodes.size() == 1);
}

TEST_CASE("inner types are inferred") {
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  graph.mutable_node(0)->set_output(0, "h");
  add_int(add_node(graph, "Concat", {"h", "h"}, {"y"}), "axis", 1);
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->Clear();
  declare(*graph.mutable_output(0), "y", {2, 6});
  const Model model = parse_message(message);
  REQUIRE(model.graph.values.size() == 1);
  CHECK(model.graph.values[0].name == "h");
  CHECK(to_string(model.graph.values[0].type) == "float32 2x3");
}

TEST_CASE("a parameter is no input") {
  auto message = relu_message();
  message.set_ir_version(3);  // which must list it
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "w", {2, 3});
  auto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(TensorProto::FLOAT);
  w.add_dims(2);
  w.add_dims(3);
  for (int i = 0; i < 6; ++i) w.add_float_data(float(i));
  const Model model = parse_message(message);
  REQUIRE(model.graph.inputs.size() == 1);
  CHECK(model.graph.inputs[0].name == "x");
  CHECK(model.graph.initializers.at("w").data<float>()[5] == 5);
}

TEST_CASE("a sparse initializer becomes dense") {
  auto message = relu_message();
  auto& sparse = *message.mutable_graph()->add_sparse_initializer();
  sparse.add_dims(2);
  sparse.add_dims(3);
  auto& values = *sparse.mutable_values();
  values.set_name("w");
  values.set_data_type(TensorProto::FLOAT);
  values.add_dims(2);
  values.add_float_data(7);
  values.add_float_data(9);
  auto& indices = *sparse.mutable_indices();
  indices.set_data_type(TensorProto::INT64);
  SECTION("by linear indices") {
    indices.add_dims(2);
    for (const int i : {1, 5}) indices.add_int64_data(i);
  }
  SECTION("by coordinates") {
    indices.add_dims(2);
    indices.add_dims(2);
    for (const int i : {0, 1, 1, 2}) indices.add_int64_data(i);
  }
  const Model model = parse_message(message);
  const Tensor& w = model.graph.initializers.at("w");
  CHECK(w.shape() == Shape{2, 3});
  const float expected[] = {0, 7, 0, 0, 0, 9};
  CHECK(std::equal(expected, expected + 6, w.data<float>()));
}

}  // namespace
}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/inference_body.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Catch::Contains;

/// The example of KServe's specification ("Inference Request JSON Object").
constexpr const char* kRequest = R"({"id": "42", "inputs": [
  {"name": "input0", "shape": [2, 2], "datatype": "UINT32", "data": [1, 2, 3, 4]},
  {"name": "input1", "shape": [3], "datatype": "BOOL", "data": [true, false, true]}],
  "outputs": [{"name": "output0"}]})";

/// The example of Triton's "Binary Tensor Data Extension".
constexpr const char* kBinaryHead = R"({"model_name": "mymodel", "inputs": [
  {"name": "input0", "shape": [2, 2], "datatype": "UINT32", "parameters": {"binary_data_size": 16}},
  {"name": "input1", "shape": [3], "datatype": "BOOL", "parameters": {"binary_data_size": 3}}],
  "outputs": [{"name": "output0", "parameters": {"binary_data": true}}, {"name": "output1"}]})";

InferenceRequest read(std::string_view text) {
  detail::BinaryWishes wishes;
  return detail::read_request(text, text.size(), wishes);
}

/// One input of JSON, within a request.
InferenceRequest read_input(const std::string& input) {
  return read(R"({"inputs": [{"name": "x", )" + input + "}]}");
}

TEST_CASE("the specification's request is read") {
  const InferenceRequest request = read(kRequest);
  CHECK(request.id == "42");
  REQUIRE(request.inputs.size() == 2);
  CHECK(request.inputs[0].name == "input0");
  CHECK(request.inputs[0].tensor.shape() == Shape{2, 2});
  CHECK(request.inputs[0].tensor.span<std::uint32_t>()[3] == 4);
  CHECK(request.inputs[1].tensor.span<bool>()[1] == false);
  CHECK(request.inputs[1].tensor.span<bool>()[2] == true);
  CHECK(request.outputs == std::vector<std::string>{"output0"});
}

TEST_CASE("bytes behind the JSON are the tensors in their order") {
  std::string body = kBinaryHead;
  const std::size_t head = body.size();
  for (int i = 1; i <= 4; ++i) body += std::string{char(i), 0, 0, 0};
  body += std::string{1, 0, 7};
  detail::BinaryWishes wishes;
  const InferenceRequest request = detail::read_request(body, head, wishes);
  CHECK(request.inputs[0].tensor.span<std::uint32_t>()[2] == 3);
  CHECK(request.inputs[1].tensor.span<bool>()[1] == false);
  CHECK(static_cast<const char*>(request.inputs[1].tensor.raw())[2] == 1);  // no other bool
  CHECK(wishes.wanted("output0"));
  CHECK_FALSE(wishes.wanted("output1"));

  CHECK_THROWS_AS(detail::read_request(body + "x", head, wishes), FormatError);
  CHECK_THROWS_AS(detail::read_request(body.substr(0, body.size() - 1), head, wishes), FormatError);
  CHECK_THROWS_AS(detail::read_request(body, body.size() + 1, wishes), FormatError);
}

TEST_CASE("tensors of every type are read back as they were sent") {
  InferenceRequest request{.model = "m", .id = "7"};
  for (const DType dtype : {DType::boolean, DType::uint8, DType::uint16, DType::uint32,
                            DType::uint64, DType::int8, DType::int16, DType::int32, DType::int64,
                            DType::float16, DType::float32, DType::float64, DType::bfloat16}) {
    Tensor tensor = Tensor::zeros(dtype, {2, 1});
    static_cast<char*>(tensor.raw())[0] = 1;
    request.inputs.push_back({std::string(name_of(dtype)), tensor});
    CHECK(inference_dtype(inference_type_of(dtype)) == dtype);
  }
  using std::string_literals::operator""s;
  request.inputs.push_back({"text", Tensor::vector<std::string>({"a\0b"s, "", "\xff"})});
  request.inputs.push_back({"empty", Tensor::zeros(DType::float32, {0, 3})});
  const detail::InferenceBody body = detail::write_request(request);
  detail::BinaryWishes wishes;
  const InferenceRequest back = detail::read_request(body.bytes, body.head, wishes);
  CHECK(back.id == "7");
  CHECK(wishes.wanted("anything"));
  REQUIRE(back.inputs.size() == request.inputs.size());
  for (std::size_t i = 0; i < back.inputs.size(); ++i) {
    const Tensor& sent = request.inputs[i].tensor;
    const Tensor& came = back.inputs[i].tensor;
    CAPTURE(request.inputs[i].name);
    REQUIRE(came.desc() == sent.desc());
    if (sent.dtype() == DType::string) {
      CHECK(std::ranges::equal(came.span<std::string>(), sent.span<std::string>()));
    } else {
      CHECK(std::string_view(static_cast<const char*>(came.raw()), came.bytes()) ==
            std::string_view(static_cast<const char*>(sent.raw()), sent.bytes()));
    }
  }
}

TEST_CASE("an answer is JSON or bytes, output by output, and the same") {
  InferenceResponse response{.model = "m", .version = "1", .id = "9", .outputs = {}};
  response.outputs.push_back({"a", Tensor::vector<float>({0.1f, -3e38f, 1e-45f})});
  response.outputs.push_back({"b", Tensor::vector<std::string>({"ü", "\""})});
  response.outputs.push_back({"c", Tensor::vector<std::uint64_t>({~std::uint64_t{0}})});
  const bool binary = GENERATE(false, true);
  const auto body = detail::write_response(response, {.by_default = false, .of = {{"a", binary}}});
  CHECK(body.is_json() != binary);
  const InferenceResponse back = detail::read_response(body.bytes, body.head);
  CHECK(back.id == "9");
  CHECK(back.model == "m");
  CHECK(std::ranges::equal(back.outputs.at(0).tensor.span<float>(),
                           response.outputs[0].tensor.span<float>()));
  CHECK(back.outputs.at(1).tensor.span<std::string>()[0] == "ü");
  CHECK(back.outputs.at(2).tensor.span<std::uint64_t>()[0] == ~std::uint64_t{0});
}

TEST_CASE("values that JSON cannot hold are refused, and go as bytes") {
  InferenceResponse response{.model = "m", .version = "1", .id = {}, .outputs = {}};
  SECTION("NaN") {
    response.outputs.push_back({"x", Tensor::scalar(std::numeric_limits<float>::quiet_NaN())});
  }
  SECTION("half floats") { response.outputs.push_back({"x", Tensor::scalar(Float16(1.0f))}); }
  SECTION("bytes") { response.outputs.push_back({"x", Tensor::scalar(std::string("\xff"))}); }
  CHECK_THROWS_WITH(detail::write_response(response, {}), Contains("ask for binary data"));
  CHECK_NOTHROW(detail::write_response(response, {.by_default = true, .of = {}}));
}

TEST_CASE("an input whose shape, type and data disagree is refused by its name") {
  CHECK_THROWS_WITH(read_input(R"("shape": [2], "datatype": "FP32", "data": [1, 2, 3])"),
                    Contains("input 'x': 3 elements") && Contains("takes 2"));
  CHECK_THROWS_WITH(read_input(R"("shape": [2], "datatype": "INT8", "data": [1, 128])"),
                    Contains("input 'x': element 1 is 128, expected INT8"));
  CHECK_THROWS_WITH(read_input(R"("shape": [1], "datatype": "UINT8", "data": [-1])"),
                    Contains("element 0 is -1"));
  CHECK_THROWS_WITH(read_input(R"("shape": [1], "datatype": "FP32", "data": [1e39])"),
                    Contains("element 0"));
  CHECK_THROWS_WITH(read_input(R"("shape": [1], "datatype": "FP32", "data": ["1"])"),
                    Contains("element 0"));
  CHECK_THROWS_WITH(read_input(R"("shape": [1], "datatype": "FP23", "data": [1])"),
                    Contains("FP32"));
  CHECK_THROWS_AS(read_input(R"("shape": [-1], "datatype": "FP32", "data": [])"), ShapeError);
  CHECK_THROWS_AS(read_input(R"("shape": [18446744073709551615], "datatype": "FP32", "data": [])"),
                  FormatError);
  CHECK_THROWS_AS(read_input(R"("shape": [4611686018427387904, 4], "datatype": "FP32",
                                "data": [])"),
                  ShapeError);
  // The declared size exceeds the data, and nothing is allocated.
  CHECK_THROWS_AS(read_input(R"("shape": [1000000000000], "datatype": "BYTES",
                                "parameters": {"binary_data_size": 0})"),
                  ShapeError);
  CHECK_THROWS_AS(read_input(R"("shape": [1], "datatype": "FP32")"), FormatError);
  CHECK(read_input(R"("shape": [2, 2], "datatype": "FP32", "data": [[1, 2], [3, 4]])")
            .inputs[0]
            .tensor.span<float>()[2] == 3);
}

TEST_CASE("a member or a parameter that is not known is refused by its name") {
  const std::string one = R"("shape": [1], "datatype": "FP32", "data": [1])";
  CHECK_THROWS_WITH(read(R"({"inputs": [], "ouputs": []})"),
                    Contains("member of request 'ouputs' is unknown; did you mean outputs"));
  CHECK_THROWS_WITH(read(R"({"inputs": [], "parameters": {"priority": 1}})"),
                    Contains("parameter of request 'priority' is unknown"));
  CHECK_THROWS_WITH(read_input(one + R"(, "parameters": {"shared_memory_region": "r"})"),
                    Contains("parameter of input 'x' 'shared_memory_region' is unknown"));
  CHECK_THROWS_WITH(read_input(one + R"(, "type": "FP32")"),
                    Contains("member of input 'x' 'type' is unknown"));
  CHECK_THROWS_WITH(
      read(R"({"inputs": [], "outputs": [{"name": "y", "parameters": {"binary": true}}]})"),
      Contains("parameter of output 'y' 'binary' is unknown; did you mean binary_data"));
}

TEST_CASE("an output may be asked for as its best classes") {
  const auto classes = [](const std::string& count) {
    return read(R"({"inputs": [], "outputs": [{"name": "y", "parameters": {"classification": )" +
                count + "}}]}")
        .classes;
  };
  CHECK(classes("3") == std::map<std::string, std::int64_t>{{"y", 3}});
  CHECK(classes("0").empty());
  CHECK_THROWS_WITH(classes("\"3\""), Contains("parameter 'classification' is no whole number"));
  CHECK_THROWS_AS(classes("18446744073709551615"), FormatError);
}

TEST_CASE("a malformed request is refused") {
  CHECK_THROWS_AS(read(""), FormatError);
  CHECK_THROWS_AS(read("[]"), FormatError);
  CHECK_THROWS_AS(read("{}"), FormatError);
  CHECK_THROWS_AS(read(R"({"inputs": {}})"), FormatError);
  CHECK_THROWS_AS(read(R"({"inputs": [1]})"), FormatError);
  CHECK_THROWS_AS(read(R"({"id": 1, "inputs": []})"), FormatError);
  CHECK_THROWS_AS(read("{\"id\": \"\xff\", \"inputs\": []}"), FormatError);
  CHECK_THROWS_AS(read(std::string(100'000, '[')), FormatError);
  const std::string data = R"("shape": [1], "datatype": "FP32", "data": )";
  const std::string deep = std::string(50, '[') + std::string(50, ']');
  CHECK_THROWS_AS(read_input(data + deep), ShapeError);
  std::string deepest = "[";  // the error message would quote its beginning
  for (int i = 0; i < 200'000; ++i) deepest += R"({"a":)";
  CHECK_THROWS_AS(read_input(data + deepest + "1" + std::string(200'000, '}') + "]"), FormatError);
}

}  // namespace
}  // namespace d5

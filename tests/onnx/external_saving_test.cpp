// SPDX-License-Identifier: Apache-2.0
// Weights that a model keeps in a file beside it.
#include <onnx/checker.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "messages.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;

Tensor counting_values(DType dtype, std::int64_t elements) {
  Tensor result = Tensor::zeros(dtype, {elements});
  auto* bytes = static_cast<unsigned char*>(result.raw());
  const unsigned most = dtype == DType::boolean ? 2 : dtype == DType::uint4 ? 16 : 256;
  for (std::size_t i = 0; i < result.bytes(); ++i) bytes[i] = static_cast<unsigned char>(i % most);
  return result;
}

/// y = Relu(x), and weights of several types that a graph may hold without reading them.
Model weighty() {
  Model model = parse_message(relu_message());
  model.graph.initializers = {{"large", counting_values(DType::float32, 3000)},
                              {"packed", counting_values(DType::uint4, 5001)},
                              {"flags", counting_values(DType::boolean, 2000)},
                              {"small", counting_values(DType::float32, 3)},
                              {"text", Tensor::of<std::string>({1}, {std::string(5000, 'a')})}};
  return model;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

::onnx::ModelProto message_in(const std::string& path) {
  ::onnx::ModelProto message;
  REQUIRE(message.ParseFromString(read_file(path)));
  return message;
}

std::string external(const ::onnx::TensorProto& tensor, const std::string& key) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return "";
}

TEST_CASE("weights lie beside the model, each at a multiple of 4096 bytes, and load the same") {
  const d5::testing::TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  const Model model = weighty();
  SECTION("because it was asked for") { save(model, path, {.external_data = true}); }
  SECTION("because the model does not fit into a message") {
    save(model, path, {.most_message_bytes = 12000});
  }
  const Model loaded = load(path);
  for (const char* name : {"large", "packed", "flags", "small"}) {
    INFO(name);
    CHECK(same_bytes(loaded.graph.initializers.at(name), model.graph.initializers.at(name)));
  }
  CHECK(loaded.graph.initializers.at("text").span<std::string>()[0] == std::string(5000, 'a'));
  const auto message = message_in(path);
  for (const auto& tensor : message.graph().initializer()) {
    INFO(tensor.name());
    const bool expected =
        tensor.name() == "large" || tensor.name() == "packed" || tensor.name() == "flags";
    CHECK((tensor.data_location() == ::onnx::TensorProto::EXTERNAL) == expected);
    if (!expected) continue;
    CHECK_FALSE(tensor.has_raw_data());
    CHECK(external(tensor, "location") == "model.onnx.data");
    CHECK(std::stoll(external(tensor, "offset")) % 4096 == 0);
  }
  // Four bits an element: 2501 bytes for 5001 of them.
  CHECK(fs::file_size(folder / "model.onnx.data") == 4096 + 3 * 4096 + 2501);
  CHECK_NOTHROW(::onnx::checker::check_model(path));
}

TEST_CASE("a model that fits is one file") {
  const d5::testing::TemporaryFolder folder;
  save(weighty(), folder / "model.onnx");
  CHECK_FALSE(fs::exists(folder / "model.onnx.data"));
}

TEST_CASE("both files are replaced, or none") {
  const d5::testing::TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  Model model = weighty();
  save(model, path, {.external_data = true});
  const std::string before = read_file(path), data = read_file(path + ".data");
  SECTION("none where the model cannot be written") {
    // An attribute goes into the message, which is too small for it.
    model.graph.nodes[0].attributes["constant"] = counting_values(DType::float32, 5000);
    model.graph.initializers.at("large") = counting_values(DType::float32, 4000);
    CHECK_THROWS_AS(save(model, path, {.external_data = true, .most_message_bytes = 10000}),
                    Unsupported);
    CHECK(read_file(path) == before);
    CHECK(read_file(path + ".data") == data);
  }
  SECTION("both by a second saving") {
    model.graph.initializers.at("large") = Tensor::zeros(DType::float32, {7000});
    save(model, path, {.external_data = true});
    CHECK(same_bytes(load(path).graph.initializers.at("large"),
                     Tensor::zeros(DType::float32, {7000})));
  }
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) files += entry.exists();
  CHECK(files == 2);
}

TEST_CASE("a model in memory has no file beside it") {
  CHECK_NOTHROW(parse(bytes_of(serialize(weighty())), "memory"));
}

}  // namespace
}  // namespace d5::onnx

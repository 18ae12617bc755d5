// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/initial_values.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

using Names = std::vector<std::string>;

Tensor all(Shape shape, float value) {
  Tensor result = Tensor::empty(DType::float32, shape);
  for (float& element : result.span<float>()) element = value;
  return result;
}

/// A layer with batch normalization, and a head of `classes`.
Network network_of(std::int64_t classes, float value) {
  Network network("two layers");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_parameter("body.weight", all({3, 2}, value));
  network.add_parameter("norm.scale", all({2}, value));
  network.add_parameter("norm.bias", all({2}, value));
  network.add_constant("norm.mean", all({2}, value));
  network.add_constant("norm.var", all({2}, value));
  network.add_constant("twice", Tensor::scalar(2.0f));
  network.add_parameter("head.weight", all({2, classes}, value));
  network.add_node("MatMul", {"x", "body.weight"}, {"h"});
  network.add_node("BatchNormalization", {"h", "norm.scale", "norm.bias", "norm.mean", "norm.var"},
                   {"n"});
  network.add_node("Mul", {"n", "twice"}, {"m"});
  network.add_node("MatMul", {"m", "head.weight"}, {"y"});
  network.add_output("y");
  return network;
}

float first(const Network& network, const std::string& name) {
  return network.fetch(name).span<float>()[0];
}

const Names kBody{"body.weight", "norm.bias", "norm.mean", "norm.scale", "norm.var"};

}  // namespace

TEST_CASE("parameters and running statistics come from another network's file") {
  const testing::TemporaryFolder folder;
  network_of(4, 5).save(folder / "other.onnx");
  Network network = network_of(4, 1);
  const TakenValues values = take_values(network, {.path = folder / "other.onnx"});
  CHECK(values.taken.size() == 6);
  CHECK(values.left.empty());
  CHECK(values.unused.empty());
  for (const auto& name : values.taken) CHECK(first(network, name) == 5);
}

TEST_CASE("tensors of another shape are refused, or left when that is said") {
  const testing::TemporaryFolder folder;
  network_of(4, 5).save(folder / "other.onnx");
  Network network = network_of(10, 1);
  CHECK_THROWS_AS(take_values(network, {.path = folder / "other.onnx"}), ShapeError);
  CHECK_THROWS_WITH(take_values(network, {.path = folder / "other.onnx"}),
                    Catch::Contains("head.weight: float32 2x4 in the file, float32 2x10"));
  CHECK(first(network, "body.weight") == 1);  // nothing was taken
  const TakenValues values = take_values(
      network, {.path = folder / "other.onnx", .differing = InitialValues::Differing::leave});
  CHECK(values.taken == kBody);
  CHECK(values.differing.size() == 1);
  CHECK(first(network, "body.weight") == 5);
  CHECK(first(network, "head.weight") == 1);
  CHECK_THAT(to_string(values), Catch::Contains("5 tensors taken; left, for they differ: head"));
}

TEST_CASE("a checkpoint gives its parameters to any network that has their names") {
  const testing::TemporaryFolder folder;
  write_checkpoint({.recipe = "another",
                    .tensors = {{"parameter/body.weight", all({3, 2}, 7)},
                                {"parameter/old.weight", all({1}, 7)},
                                {"constant/norm.mean", all({2}, 7)},
                                {"optimizer/head.weight", all({2, 4}, 7)}}},
                   folder / "c");
  Network network = network_of(4, 1);
  const TakenValues values = take_values(network, {.path = folder / "c"});
  CHECK(values.taken == Names{"body.weight", "norm.mean"});
  CHECK(values.left == Names{"head.weight", "norm.bias", "norm.scale", "norm.var"});
  CHECK(values.unused == Names{"old.weight"});
  CHECK(first(network, "norm.mean") == 7);
  CHECK(first(network, "head.weight") == 1);
}

TEST_CASE("a foreign safetensors file is taken by name, whatever else it holds") {
  const testing::TemporaryFolder folder;
  const std::string header = R"({"norm.scale":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("norm.bias":{"dtype":"F16","shape":[2],"data_offsets":[8,12]},)"
                             R"("count":{"dtype":"I64","shape":[],"data_offsets":[12,20]}})";
  std::string file(8, '\0');
  file[0] = char(header.size() % 256), file[1] = char(header.size() / 256);
  file += header;
  const float values[2] = {0.5f, 0.25f};
  file.append(reinterpret_cast<const char*>(values), 8).append(12, '\0');
  std::ofstream(folder / "f.safetensors", std::ios::binary) << file;
  Network network = network_of(4, 1);
  CHECK_THROWS_AS(take_values(network, {.path = folder / "f.safetensors"}), TypeError);
  const TakenValues taken = take_values(
      network, {.path = folder / "f.safetensors", .differing = InitialValues::Differing::leave});
  CHECK(taken.taken == Names{"norm.scale"});
  CHECK(taken.unused == Names{"count"});
  CHECK(network.fetch("norm.scale").span<float>()[1] == 0.25f);
  CHECK(first(network, "norm.bias") == 1);
}

TEST_CASE("a file of no use is refused") {
  const testing::TemporaryFolder folder;
  Network network = network_of(4, 1);
  CHECK_THROWS_AS(take_values(network, {.path = folder / "none"}), IoError);
  CHECK_THROWS_AS(take_values(network, {.path = folder / "none.onnx"}), IoError);
  std::ofstream(folder / "text") << "these are no tensors at all";
  CHECK_THROWS_AS(take_values(network, {.path = folder / "text"}), FormatError);
  write_checkpoint({.recipe = "r", .tensors = {{"parameter/body.wieght", all({3, 2}, 7)}}},
                   folder / "c");
  CHECK_THROWS_AS(take_values(network, {.path = folder / "c"}), NotFound);
  CHECK_THROWS_WITH(take_values(network, {.path = folder / "c"}), Catch::Contains("body.wieght"));
}

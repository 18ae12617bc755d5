// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/network.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using d5::DType;
using d5::Tensor;

/// x (2x3) times a (3x4) plus b, then times c (4x1).
d5::Network two_layers() {
  d5::Network network("two_layers");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_parameter("a", Tensor::zeros(DType::float32, {3, 4}));
  network.add_parameter("b", Tensor::zeros(DType::float32, {4}));
  network.add_parameter("c", Tensor::of<float>({4, 1}, {1, 2, 3, 4}));
  network.add_node("Gemm", {"x", "a", "b"}, {"h"}, {}, "first");
  network.add_node("Gemm", {"h", "c"}, {"y"}, {}, "second");
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("a network built by code answers for what is in it") {
  const d5::Network network = two_layers();
  CHECK(network.input_names() == std::vector<std::string>{"x"});
  CHECK(network.output_names() == std::vector<std::string>{"y"});
  CHECK(network.node("second").inputs == std::vector<std::string>{"h", "c"});
  CHECK(network.is_parameter("a"));
  CHECK_FALSE(network.is_parameter("x"));
  CHECK(network.fetch("c").span<float>()[3] == 4);
}

TEST_CASE("a tensor's producer and consumers are found") {
  d5::Network network = two_layers();
  CHECK(network.producer("h")->name == "first");
  CHECK(network.producer("x") == nullptr);
  CHECK(network.producer("a") == nullptr);
  REQUIRE(network.consumers("h").size() == 1);
  CHECK(network.consumers("h")[0]->name == "second");
  CHECK(network.consumers("y").empty());
  CHECK_THROWS_AS(network.producer("nothing"), d5::NotFound);
  CHECK_THROWS_AS(network.consumers("nothing"), d5::NotFound);
}

TEST_CASE("parameters lie in one arena, the last layer's first") {
  d5::Network network = two_layers();
  std::vector<std::string> names;
  for (const auto& parameter : network.parameters()) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"c", "a", "b"});
  // 4, 12 and 4 floats, each on a line of 64 bytes.
  const Tensor all = network.parameter_arena();
  CHECK(all.shape() == d5::Shape{48});
  CHECK(all.span<float>()[2] == 3);
  CHECK(network.parameter("a").value.raw() == all.span<float>().data() + 16);
  CHECK(network.gradient_arena().shape() == d5::Shape{48});
  CHECK(network.parameter("b").gradient.shares_storage_with(network.gradient_arena()));
}

TEST_CASE("parameters lie in memory that the caller gives, unread and unwritten") {
  d5::Network network = two_layers();
  // Nothing that a layout would write there.
  std::vector<float> memory(2 * 48, -1);
  std::size_t used = 0;
  network.lay_out_in([&](std::size_t bytes) {
    CHECK(bytes == 48 * sizeof(float));
    float* begin = memory.data() + used;
    used += 48;
    return Tensor::borrow({DType::uint8, {std::int64_t(bytes)}}, begin, nullptr);
  });
  REQUIRE(network.parameters().size() == 3);
  CHECK(network.parameter("c").value.raw() == memory.data());
  CHECK(network.parameter("a").gradient.raw() == memory.data() + 48 + 16);
  CHECK(network.parameter_arena().raw() == memory.data());
  CHECK(std::ranges::count(memory, -1.0F) == 2 * 48);
}

TEST_CASE("feeding a parameter writes into the arena and is no edit") {
  d5::Network network = two_layers();
  const Tensor value = network.parameter("c").value;
  const auto revision = network.revision();
  network.feed("c", Tensor::of<float>({4, 1}, {5, 6, 7, 8}));
  CHECK(value.span<float>()[0] == 5);
  CHECK(network.revision() == revision);
  CHECK_THROWS_AS(network.feed("c", Tensor::zeros(DType::float32, {4})), d5::ShapeError);
  CHECK_THROWS_AS(network.feed("c", Tensor::zeros(DType::float64, {4, 1})), d5::TypeError);
  CHECK_THROWS_AS(network.feed("d", value), d5::NotFound);
}

TEST_CASE("an input, or what a node writes, keeps what it is fed until the next edit") {
  d5::Network network = two_layers();
  const std::string output = network.output_names().front();
  CHECK_THROWS_AS(network.fetch(output), d5::NotFound);
  CHECK_THROWS_WITH(network.fetch(output), Catch::Contains("was not fed"));
  const Tensor value = Tensor::of<float>({2}, {1, 2});
  const auto revision = network.revision();
  network.feed(output, value);
  CHECK(network.fetch(output).raw() == value.raw());
  CHECK(network.revision() == revision);
  network.add_node("Relu", {output}, {"more"});
  CHECK_THROWS_AS(network.fetch(output), d5::NotFound);
}

TEST_CASE("an edit that breaks the network is refused") {
  d5::Network network = two_layers();
  CHECK_THROWS_AS(network.add_node("Relu", {"nothing"}, {"z"}), d5::NotFound);
  CHECK_THROWS_AS(network.add_node("Relu", {"x"}, {"y"}), d5::ValueError);
  CHECK_THROWS_AS(network.add_node("Relu", {"x"}, {"z"}, {}, "first"), d5::ValueError);
  CHECK_THROWS_AS(network.add_input("x", DType::float32, {}), d5::ValueError);
  CHECK_THROWS_AS(network.add_output("nothing"), d5::NotFound);
  CHECK_THROWS_AS(network.add_parameter("i", Tensor::zeros(DType::int64, {2})), d5::TypeError);
  CHECK_THROWS_AS(network.remove_node("first"), d5::ValueError);  // the second reads it
  CHECK_THROWS_AS(network.remove_node("third"), d5::NotFound);
}

TEST_CASE("a removed node takes its outputs along") {
  d5::Network network = two_layers();
  network.remove_node("second");
  CHECK(network.output_names().empty());
  network.add_node("Relu", {"h"}, {"y"});
  network.add_output("y");
  CHECK(network.graph().nodes.size() == 2);
}

TEST_CASE("an unknown name is answered with the nearest") {
  const d5::Network network = two_layers();
  CHECK_THROWS_WITH(network.node("secnod"), Catch::Contains("second"));
}

TEST_CASE("a loaded graph's parameters are what an operator can differentiate") {
  d5::onnx::Model model;
  model.opset_imports[""] = 22;
  auto& graph = model.graph;
  graph.initializers["w"] = Tensor::zeros(DType::float32, {2, 2});
  graph.initializers["shape"] = Tensor::of<std::int64_t>({1}, {4});
  graph.initializers["unread"] = Tensor::zeros(DType::float32, {2, 2});
  d5::onnx::Node multiply, reshape;
  multiply.op_type = "Mul", multiply.opset = 22;
  multiply.inputs = {"x", "w"}, multiply.outputs = {"y"};
  reshape.op_type = "Reshape", reshape.opset = 22;
  reshape.inputs = {"y", "shape"}, reshape.outputs = {"z"};
  graph.nodes = {multiply, reshape};
  const d5::Network network(std::move(model));
  CHECK(network.is_parameter("w"));
  CHECK_FALSE(network.is_parameter("shape"));
  CHECK_FALSE(network.is_parameter("unread"));
}

TEST_CASE("what is trained survives a file, whatever it looks like") {
  d5::Network network("roles");
  network.add_input("x", DType::float32, {2});
  network.add_constant("scale", Tensor::of<float>({2}, {2, 3}));
  network.add_parameter("unread", Tensor::zeros(DType::float32, {2}));
  network.add_node("Mul", {"x", "scale"}, {"y"});
  network.add_output("y");
  const std::string text = network.serialize();
  const auto bytes = std::as_bytes(std::span(text));
  const d5::Network parsed = d5::Network::parse(bytes, "text");
  CHECK_FALSE(parsed.is_parameter("scale"));
  CHECK(parsed.is_parameter("unread"));
  CHECK(parsed.model().metadata.empty());

  d5::onnx::Model model = network.model();
  for (const auto& [name, role] :
       {std::pair("d5.role.nothing", "parameter"), std::pair("d5.role.scale", "parametre")}) {
    model.metadata = {{name, role}};
    CHECK_THROWS_AS(d5::Network(model), d5::FormatError);
  }
}

TEST_CASE("a copy of a network has values of its own") {
  d5::Network network("w");
  network.add_parameter("w", Tensor::of<float>({2}, {1, 2}));
  network.add_constant("c", Tensor::of<float>({1}, {5}));
  network.add_node("Add", {"w", "c"}, {"y"});
  network.add_output("y");
  d5::Network copy = network.copy();
  network.parameter("w").value.data<float>()[0] = 7;
  network.feed("c", Tensor::of<float>({1}, {6}));
  network.add_output("w");
  CHECK(copy.parameter("w").value.data<float>()[0] == 1);
  CHECK(copy.fetch("c").item<float>() == 5);
  CHECK(copy.output_names() == std::vector<std::string>{"y"});
}

TEST_CASE("updates of constants survive a file, and one that cannot be followed is refused") {
  d5::Network network("mean");
  network.add_input("x", DType::float32, {2});
  network.add_constant("mean", Tensor::zeros(DType::float32, {2}));
  network.add_node("Add", {"x", "mean"}, {"sum"});
  network.add_output("sum");
  network.add_update("mean", "sum");
  const d5::testing::TemporaryFolder folder;
  const std::string path = folder / "mean.onnx";
  network.save(path);
  const d5::Network loaded = d5::Network::load(path);
  CHECK(loaded.updates() == network.updates());
  CHECK(loaded.model().metadata.empty());

  d5::onnx::Model model = network.model();
  model.metadata["d5.update.mean"] = "nothing";
  d5::onnx::save(model, path);
  CHECK_THROWS_AS(d5::Network::load(path), d5::FormatError);
}

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/fitting_sizes.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/level1_network/sized_networks.hpp"

using namespace d5;
using Catch::Contains;
using testing::down_and_up;

namespace {

std::string made_shape(const Network& network, const OpenSizes& sizes = {}) {
  return to_string(random_inputs(network, sizes).at("x").tensor().shape());
}

}  // namespace

TEST_CASE("open sizes are the least that go through the network") {
  const Network named = down_and_up({"N", std::int64_t{1}, "height", "width"});
  CHECK(made_shape(named) == "1x1x2x2");
  CHECK(made_shape(named, {.batch = 4}) == "4x1x4x4");  // as asked, and it fits
  CHECK(made_shape(named, {.batch = 3}) == "3x1x2x2");
  CHECK(made_shape(named, {.by_name = {{"width", 6}}}) == "1x1x2x6");
  const OpenSizes found = fitting_sizes(named, {});
  CHECK(found.batch == 1);
  CHECK(found.by_name == std::map<std::string, std::int64_t>{{"height", 2}, {"width", 2}});
}

TEST_CASE(
    "strides leave at least one element of sizes that are not given, though fewer go through") {
  Network network("detector");
  network.add_input("x", DType::float32, {"N", std::int64_t{1}, "height", "width"});
  network.add_constant("w", Tensor::zeros(DType::float32, {1, 1, 3, 3}));
  network.add_constant("twice", Tensor::of<float>({4}, {1, 1, 2, 2}));
  const auto halved = [&](const std::string& from, const std::string& to, std::int64_t across) {
    network.add_node("Conv", {from, "w"}, {to},
                     {{"strides", std::vector<std::int64_t>{2, across}},
                      {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  };
  halved("x", "a", 2);  // 2x2
  halved("a", "b", 1);  // 4x2
  network.add_node("Resize", {"b", "", "twice"}, {"c"}, {{"mode", std::string("nearest")}});
  halved("c", "y", 2);  // again
  network.add_output("y");
  CHECK(made_shape(network) == "1x1x4x2");
  CHECK(made_shape(network, {.by_name = {{"height", 1}}}) == "1x1x1x2");
  CHECK(made_shape(network, {.batch = 3}) == "3x1x4x3");
}

TEST_CASE("a size without a name is called by its input and axis") {
  const Network unnamed = down_and_up({onnx::Dim(), std::int64_t{1}, onnx::Dim(), onnx::Dim()});
  CHECK(fitting_sizes(unnamed, {}).by_name ==
        std::map<std::string, std::int64_t>{{"x:2", 2}, {"x:3", 2}});
  CHECK(made_shape(unnamed, {.by_name = {{"x:3", 8}}}) == "1x1x2x8");
  CHECK_THROWS_WITH(made_shape(unnamed, {.by_name = {{"x:1", 8}}}), Contains("x:0, x:2, x:3"));
}

/// A decoder's step as exporters write it: each layer's past has a length of its own name.
Network decoder_step() {
  Network network("step");
  network.add_input("ids", DType::int64, {"batch", "new"});
  network.add_input("attention_mask", DType::int64, {"batch", "mask"});
  network.add_constant("axis", Tensor::of<std::int64_t>({1}, {2}));
  network.add_node("Cast", {"ids"}, {"real"}, {{"to", std::int64_t{1}}});
  network.add_node("Unsqueeze", {"real", "axis"}, {"rows"});  // batch, new, 1
  for (const std::string layer : {"0", "1", "2"}) {
    network.add_input("past_k" + layer, DType::float32, {"batch", "s" + layer, std::int64_t{1}});
    network.add_node("Concat", {"past_k" + layer, "rows"}, {"k" + layer},
                     {{"axis", std::int64_t{1}}});
  }
  network.add_node("Add", {"k0", "k1"}, {"k01"});
  network.add_node("Add", {"k01", "k2"}, {"k"});
  network.add_node("Squeeze", {"k", "axis"}, {"keys"});
  network.add_node("Cast", {"attention_mask"}, {"seen"}, {{"to", std::int64_t{1}}});
  network.add_node("Concat", {"keys", "seen"}, {"y"}, {{"axis", std::int64_t{0}}});
  network.add_output("y");
  return network;
}

TEST_CASE("a pattern gives a size to all dimensions that it fits, by name or by input and axis") {
  const Network network = decoder_step();
  const auto shapes = [&](const OpenSizes& sizes) {
    std::string text;
    for (const auto& [name, value] : random_inputs(network, sizes)) {
      text += name + "=" + to_string(value.tensor().shape()) + " ";
    }
    return text;
  };
  const std::string longer =
      "attention_mask=1x33 ids=1x1 past_k0=1x32x1 past_k1=1x32x1 "
      "past_k2=1x32x1 ";
  // The mask's 33 is a sum of sizes, and no usual one.
  CHECK(shapes({.by_name = {{"past_*:1", 32}}}) == longer);
  CHECK(shapes({.by_name = {{"s?", 32}}}) == longer);
  CHECK(shapes({.by_name = {{"past_*:1", 32}, {"ids:1", 1}}}) == longer);
  CHECK(shapes({.by_name = {{"past_*:1", 7}, {"new", 3}}}) ==
        "attention_mask=1x10 ids=1x3 past_k0=1x7x1 past_k1=1x7x1 past_k2=1x7x1 ");
  CHECK_THROWS_WITH(
      shapes({.by_name = {{"past_*:1", 7}, {"past_k1:*", 8}}}),
      Contains("'past_*:1': 7") && Contains("'past_k1:*': 8") && Contains("two sizes"));
  // A name goes before a pattern: then the layers differ, and nothing fits.
  CHECK_THROWS_AS(shapes({.by_name = {{"past_*:1", 7}, {"s1", 8}}}), ShapeError);
  CHECK_THROWS_WITH(shapes({.by_name = {{"passed_*:1", 7}}}), Contains("passed_*:1"));
}

TEST_CASE("a length that is named as a sum has it, and a mask of attention attends to all") {
  Network network("sum");
  network.add_input("past", DType::float32, {"N", "past_length"});
  network.add_input("attention_mask", DType::int64, {"N", "past_length + new_length"});
  network.add_input("more", DType::float32, {"N", "past_length + 3"});
  network.add_input("ids", DType::int64, {"N", "new_length"});
  for (const std::string name : {"past", "attention_mask", "more", "ids"}) {
    network.add_node("Identity", {name}, {name + ".out"});
    network.add_output(name + ".out");
  }
  const ValueMap inputs =
      random_inputs(network, {.batch = 2, .by_name = {{"past_length", 32}, {"new_length", 4}}});
  CHECK(to_string(inputs.at("attention_mask").tensor().shape()) == "2x36");
  CHECK(to_string(inputs.at("more").tensor().shape()) == "2x35");
  CHECK(to_string(random_inputs(network).at("more").tensor().shape()) == "1x4");
  for (const std::int64_t one : inputs.at("attention_mask").tensor().span<std::int64_t>()) {
    CHECK(one == 1);
  }
}

TEST_CASE("a size that only an output tells is as the output's of the same name") {
  Network network("cache");
  const onnx::Dim four = std::int64_t{4};
  network.add_input("past", DType::float32, {"N", "past_length", four});
  network.add_input("fresh", DType::float32, {"N", "fresh_length", four});
  network.add_input("mask", DType::int64, {"N", "total_length"});
  network.add_node("Concat", {"past", "fresh"}, {"present"}, {{"axis", std::int64_t{1}}});
  network.add_node("Identity", {"mask"}, {"seen"});
  network.add_output("present");
  network.add_output("seen");
  const auto mask = [](const Network& of, const OpenSizes& sizes) {
    return to_string(random_inputs(of, sizes).at("mask").tensor().shape());
  };
  CHECK(mask(network, {.by_name = {{"past_length", 32}}}) == "1x1");
  onnx::Model model = network.model();
  model.graph.outputs.at(0).type = {.kind = ValueKind::tensor,
                                    .dtype = DType::float32,
                                    .has_shape = true,
                                    .dims = {"N", "total_length", four},
                                    .element = {}};
  const Network told(model);
  CHECK(mask(told, {.by_name = {{"past_length", 32}}}) == "1x33");
  CHECK(mask(told, {}) == "1x2");
  CHECK(mask(told, {.batch = 3, .by_name = {{"past_length", 32}, {"fresh_length", 2}}}) == "3x34");
  CHECK(mask(told, {.by_name = {{"past_length", 32}, {"total_length", 5}}}) == "1x5");  // as asked
  // An output that would be longer again tells nothing.
  model.graph.outputs.at(0).type.dims = {"N", "past_length", four};
  CHECK(to_string(random_inputs(Network(model)).at("past").tensor().shape()) == "1x1x4");
}

TEST_CASE("sizes that do not go through are refused with those that would") {
  const Network network = down_and_up({"N", std::int64_t{1}, "height", "width"});
  CHECK_THROWS_AS(made_shape(network, {.by_name = {{"height", 5}}}), ShapeError);
  CHECK_THROWS_WITH(made_shape(network, {.by_name = {{"height", 5}}}),
                    Contains("Add 'sum'") && Contains("height must be a multiple of 2") &&
                        Contains("dims={'height': 6}") && Contains("inputs={'x': FILE.npy}"));
  Network window("window");
  window.add_input("x", DType::float32, {"N", std::int64_t{1}, "T"});
  window.add_constant("w", Tensor::zeros(DType::float32, {1, 1, 7}));
  window.add_node("Conv", {"x", "w"}, {"y"});
  window.add_output("y");
  CHECK_THROWS_WITH(made_shape(window, {.by_name = {{"T", 3}}}), Contains("T must be 7 or more"));
}

TEST_CASE("if no size fits, the error lists the sizes that were tried") {
  Network network("never");
  network.add_input("x", DType::float32, {std::int64_t{3}, "T"});
  network.add_constant("w", Tensor::zeros(DType::float32, {4}));
  network.add_constant("v", Tensor::zeros(DType::float32, {5}));
  network.add_node("Add", {"x", "w"}, {"a"});
  network.add_node("Add", {"x", "v"}, {"b"});
  network.add_output("a");
  network.add_output("b");
  CHECK(made_shape(network) == "3x1");
  network.add_node("Concat", {"a", "b"}, {"c"}, {{"axis", std::int64_t{0}}}, "both");
  CHECK_THROWS_AS(made_shape(network), ShapeError);
  CHECK_THROWS_WITH(made_shape(network), Contains("'both'") && Contains("dims={'T': SIZE}"));
}

namespace {

/// A file may leave out the shape of an input.
Network of_any_rank(const Network& network) {
  onnx::Model model = network.model();
  for (auto& input : model.graph.inputs) {
    input.type.has_shape = false;
    input.type.dims.clear();
  }
  return Network(std::move(model));
}

}  // namespace

TEST_CASE("an input of any rank has the first of usual ranks and sizes that go through") {
  Network convolution("convolution");  // 3 channels, and a window of 5
  convolution.add_input("x", DType::float32, {"N"});
  convolution.add_constant("w", Tensor::zeros(DType::float32, {2, 3, 5, 5}));
  convolution.add_node("Conv", {"x", "w"}, {"y"});
  convolution.add_output("y");
  CHECK(made_shape(of_any_rank(convolution)) == "1x3x8x8");  // the first usual size that it fits

  Network linear("linear");
  linear.add_input("x", DType::float32, {"N"});
  linear.add_constant("w", Tensor::zeros(DType::float32, {7, 2}));
  linear.add_node("MatMul", {"x", "w"}, {"y"});
  linear.add_output("y");
  const Network any = of_any_rank(linear);
  CHECK(made_shape(any) == "1x7");
  CHECK(made_shape(any, {.batch = 4}) == "4x7");
  CHECK(made_shape(any, {.by_name = {{"x:0", 2}, {"x:1", 3}, {"x:2", 7}}}) == "2x3x7");
  CHECK_THROWS_WITH(made_shape(any, {.by_name = {{"x:1", 7}}}), Contains("known: x:0"));
}

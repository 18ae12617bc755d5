// SPDX-License-Identifier: Apache-2.0
// Known faults of OpenVINO in quantized networks are refused, and similar nodes are correct.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/source/model_source.hpp"

using namespace d5;
using Catch::Contains;

namespace {

constexpr const char* kWord = "openvino:compiled";

/// Adds y = quantized and dequantized x, in steps of `scale`.
void quantize(Network& network, const std::string& x, const std::string& y, Tensor zero,
              float scale) {
  network.add_constant(y + ".scale", Tensor::scalar(scale));
  network.add_constant(y + ".zero", std::move(zero));
  network.add_node("QuantizeLinear", {x, y + ".scale", y + ".zero"}, {y + ".q"});
  network.add_node("DequantizeLinear", {y + ".q", y + ".scale", y + ".zero"}, {y});
}

Tensor weights(std::int64_t inputs) {
  Tensor result = Tensor::zeros(DType::int8, {2, inputs, 1, 1});
  std::int8_t number = -90;
  for (std::int8_t& weight : result.span<std::int8_t>()) weight = number = std::int8_t(number + 23);
  return result;
}

struct Joined {
  Tensor zero;
  std::string before = "Identity";  ///< an operator between Concat and QuantizeLinear
  std::string weights = "int8";
  std::int64_t group = 1;
};

/// y = Conv of the quantized concatenation of a and b, 1x2x1x1 each.
Network joined_and_convolved(const Joined& told) {
  Network network("joined");
  network.add_input("a", DType::float32, {1, 2, 1, 1});
  network.add_input("b", DType::float32, {1, 2, 1, 1});
  network.add_node("Concat", {"a", "b"}, {"ab"}, {{"axis", std::int64_t{1}}});
  network.add_node(told.before, {"ab"}, {"x"});
  quantize(network, "x", "xq", told.zero, 0.02F);
  if (told.weights == "int8") {
    network.add_constant("w.scale", Tensor::scalar(0.002F));
    network.add_constant("w.zero", Tensor::scalar(std::int8_t{0}));
    network.add_constant("w.q", weights(4 / told.group));
    network.add_node("DequantizeLinear", {"w.q", "w.scale", "w.zero"}, {"w"});
  } else {
    network.add_parameter("w", Tensor::of<float>({1, 4, 1, 1}, {0.1F, -0.2F, 0.3F, 0.15F}));
  }
  network.add_node("Conv", {"xq", "w"}, {"y"}, {{"group", told.group}});
  network.add_output("y");
  return network;
}

ValueMap two() {
  return {{"a", Tensor::of<float>({1, 2, 1, 1}, {0.313F, 1.707F})},
          {"b", Tensor::of<float>({1, 2, 1, 1}, {-0.906F, 0.553F})}};
}

void check_right(const Network& network, const ValueMap& inputs) {
  const auto expected = make_executor(network)->inference(inputs).at("y");
  const auto answer = open_executor(kWord, network)->inference(inputs).at("y");
  CHECK(compare_values(answer, expected, {.relative = 1e-5, .absolute = 1e-6}).equal);  // sums of 4
}

void check_refused(const Network& network, const ValueMap& inputs, const char* why) {
  CHECK_THROWS_WITH(open_executor(kWord, network)->inference(inputs), Contains(why));
}

}  // namespace

TEST_CASE("int8 of a Concat, of which a Conv with quantized weights is made, is refused") {
  const Tensor zero = Tensor::scalar(std::int8_t{-5});
  for (const char* before : {"Identity", "Relu", "Clip"}) {
    INFO(before);
    check_refused(joined_and_convolved({.zero = zero, .before = before}), two(),
                  "int8 of a Concat");
  }
}

TEST_CASE(
    "it is right for uint8, behind other operators, in groups, and with weights that are floats") {
  const Tensor zero = Tensor::scalar(std::int8_t{-5});
  check_right(joined_and_convolved({.zero = Tensor::scalar(std::uint8_t{120})}), two());
  check_right(joined_and_convolved({.zero = zero, .before = "Tanh"}), two());
  check_right(joined_and_convolved({.zero = zero, .group = 2}), two());
  check_right(joined_and_convolved({.zero = zero, .weights = "float32"}), two());
}

namespace {

/// y = -x, quantized before.
Network pair(Tensor zero) {
  Network network("pair");
  network.add_input("x", DType::float32, {2});
  quantize(network, "x", "xq", std::move(zero), 0.01F);
  network.add_node("Neg", {"xq"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("16 bits that are given back at once are refused, 8 bits and those that stay are right") {
  const ValueMap fed{{"x", Tensor::of<float>({2}, {-1.234F, 0.567F})}};
  check_refused(pair(Tensor::scalar(std::int16_t{0})), fed, "16 bits");
  check_refused(pair(Tensor::scalar(std::uint16_t{0})), fed, "16 bits");
  check_right(pair(Tensor::scalar(std::int8_t{0})), fed);
  Network alone("alone");
  alone.add_input("x", DType::float32, {2});
  alone.add_constant("scale", Tensor::scalar(0.01F));
  alone.add_constant("zero", Tensor::scalar(std::int16_t{7}));
  alone.add_node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
  alone.add_output("y");
  check_right(alone, fed);
}

TEST_CASE("what QLinear operators of com.microsoft cut and wrap goes elsewhere, ONNX's own stay") {
  const auto who_runs = [](const std::string& line) {
    INFO(line);
    const Network network = open_model(line);
    const ValueMap inputs = random_inputs(network);
    const auto mix = open_executor("openvino+reference", network);
    const auto expected = make_executor(network)->inference(inputs);
    for (const auto& [name, value] : mix->inference(inputs)) {
      CHECK(compare_values(value, expected.at(name), {}).equal);
    }
    return planned_steps(*mix).front().framework;
  };
  const std::string x = "uint8:2x3%256 scalar{0.5} uint8:scalar{100} ";
  CHECK(who_runs("com.microsoft.QLinearAdd " + x + x + "scalar{1} uint8:scalar{110}") ==
        "reference");
  CHECK(who_runs("com.microsoft.QLinearMul " + x + x + "scalar{32} uint8:scalar{110}") ==
        "reference");
  CHECK(who_runs("com.microsoft.QLinearSigmoid " + x + "scalar{0.00390625} uint8:scalar{0}") ==
        "reference");
  CHECK(who_runs("com.microsoft.DynamicQuantizeMatMul 4x8 uint8:8x5%256 {0.01} uint8:{120}") ==
        "reference");
  CHECK(who_runs("QLinearMatMul " + x +
                 "uint8:3x4%256 scalar{0.5} uint8:scalar{100} scalar{64} "
                 "uint8:scalar{110}") == "openvino");
}

// SPDX-License-Identifier: Apache-2.0
// The generated views against what ONNX's operator documentation says.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::onnx {
namespace {

Node node(std::string op_type, int opset) {
  Node result;
  result.op_type = std::move(op_type);
  result.opset = opset;
  return result;
}

TEST_CASE("a view names an operator's inputs and outputs in the order of its schema") {
  STATIC_REQUIRE(nodes::Conv::kName == "Conv");
  STATIC_REQUIRE(nodes::Conv::kDomain.empty());
  STATIC_REQUIRE(nodes::Conv::kSinceVersions.back() == 22);
  STATIC_REQUIRE(std::size_t(nodes::Conv::In::B) == 2);
  STATIC_REQUIRE(std::size_t(nodes::LSTM::In::P) == 7);
  STATIC_REQUIRE(std::size_t(nodes::LSTM::Out::Y_c) == 2);
  STATIC_REQUIRE(nodes::ml::TreeEnsemble::kDomain == "ai.onnx.ml");
  STATIC_REQUIRE(nodes::training::Adam::kDomain == "ai.onnx.preview.training");
}

TEST_CASE("an attribute that was not given has the default of its schema") {
  const Node conv = node("Conv", 22);
  CHECK(nodes::Conv(conv).group() == 1);
  CHECK(nodes::Conv(conv).auto_pad() == "NOTSET");
  CHECK_FALSE(nodes::Conv(conv).kernel_shape().has_value());
  CHECK(nodes::BatchNormalization(node("BatchNormalization", 15)).epsilon() == 1e-5f);
}

TEST_CASE("an attribute that was given overrides the default") {
  Node conv = node("Conv", 22);
  conv.attributes["group"] = std::int64_t{3};
  conv.attributes["kernel_shape"] = std::vector<std::int64_t>{5, 7};
  CHECK(nodes::Conv(conv).group() == 3);
  CHECK(nodes::Conv(conv).kernel_shape() == std::vector<std::int64_t>{5, 7});
}

TEST_CASE("a default that changed between versions follows the node's opset") {
  CHECK(nodes::Softmax(node("Softmax", 11)).axis() == 1);
  CHECK(nodes::Softmax(node("Softmax", 12)).axis() == 1);
  CHECK(nodes::Softmax(node("Softmax", 13)).axis() == -1);
  CHECK_FALSE(nodes::Clip(node("Clip", 1)).max().has_value());
  CHECK(nodes::Clip(node("Clip", 6)).max() == std::numeric_limits<float>::max());
}

TEST_CASE("a missing required attribute and one of another type throw") {
  Node cast = node("Cast", 13);
  CHECK_THROWS_AS(nodes::Cast(cast).to(), FormatError);
  cast.attributes["to"] = std::string("FLOAT");
  CHECK_THROWS_AS(nodes::Cast(cast).to(), TypeError);
  CHECK(nodes::Cast(cast).to_v1() == "FLOAT");
}

}  // namespace
}  // namespace d5::onnx

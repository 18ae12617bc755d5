// SPDX-License-Identifier: Apache-2.0
// Numbers that a shorter type does not hold, or makes nothing of.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level1_network/transform_networks.hpp"

using namespace d5;
using namespace d5::transformed;
using Catch::Contains;

namespace {

const EntryChoice kFloat16 = {"half-precision", {}};
const EntryChoice kBfloat16 = {"half-precision", {{"type", "bfloat16"}}};
const EntryChoice kKeeping = {"half-precision", {{"out_of_range", "float32"}}};

/// Ways in which a network may hold a number, under the name "number".
enum class Holds { initializer, constant_node, filled, from_float64 };

void add_number(Network& network, float number, Holds how) {
  if (how == Holds::initializer) {
    network.add_constant("number", Tensor::scalar(number));
  } else if (how == Holds::constant_node) {
    network.add_node("Constant", {}, {"number"}, {{"value_float", number}});
  } else if (how == Holds::filled) {
    network.add_constant("one", Tensor::vector<std::int64_t>({1}));
    network.add_node("ConstantOfShape", {"one"}, {"number"},
                     {{"value", Tensor::vector<float>({number})}});
  } else {
    network.add_constant("long", Tensor::scalar(double(number)));
    network.add_node("Cast", {"long"}, {"number"}, {{"to", std::int64_t(DType::float32)}});
  }
}

/// y = x / sqrt(mean(x^2) + number), as exporters write a normalization.
Network normalization(float number, Holds how) {
  Network network("normalization");
  network.add_input("x", DType::float32, {std::int64_t{2}, std::int64_t{4}});
  add_number(network, number, how);
  network.add_constant("axis", Tensor::vector<std::int64_t>({1}));
  network.add_node("Mul", {"x", "x"}, {"square"});
  network.add_node("ReduceMean", {"square", "axis"}, {"mean"});
  network.add_node("Add", {"mean", "number"}, {"moved"}, {}, "add_epsilon");
  network.add_node("Sqrt", {"moved"}, {"root"});
  network.add_node("Div", {"x", "root"}, {"y"});
  network.add_output("y");
  return network;
}

/// Softmax of two scores, and of two that are masked both.
Network masked(float number, Holds how) {
  Network network("masked");
  network.add_input("scores", DType::float32, {std::int64_t{2}, std::int64_t{2}});
  network.add_input("hidden", DType::boolean, {std::int64_t{2}, std::int64_t{2}});
  add_number(network, number, how);
  network.add_node("Where", {"hidden", "number", "scores"}, {"seen"}, {}, "mask");
  network.add_node("Softmax", {"seen"}, {"y"});
  network.add_output("y");
  return network;
}

std::vector<float> answers(const Network& network, const ValueMap& inputs) {
  const auto executor = make_executor(network);
  const Tensor y = executor->inference(inputs).at("y").tensor();
  return {y.span<float>().begin(), y.span<float>().end()};
}

const auto kEverywhere = {Holds::initializer, Holds::constant_node, Holds::filled,
                          Holds::from_float64};

}  // namespace

TEST_CASE("a number that becomes 0 is refused, wherever it stands, or stays float32") {
  const ValueMap zeros = {{"x", Tensor::zeros(DType::float32, {2, 4})}};
  for (const Holds how : kEverywhere) {
    Network network = normalization(1e-12F, how);
    const auto revision = network.revision();
    CHECK_THROWS_WITH(applied(network, kFloat16),
                      Contains("Add 'add_epsilon': 'number' holds 1e-12") &&
                          Contains("which is 0 in float16") && Contains("type=bfloat16") &&
                          Contains("out_of_range=float32"));
    CHECK(network.revision() == revision);
    const auto report = applied(network, kKeeping);
    CHECK_THAT(report.what, Contains("float16"));
    CHECK_THAT(report.left.at(0), Contains("Add 'add_epsilon': 'number' holds 1e-12"));
    for (const float y : answers(network, zeros)) CHECK(y == 0);  // 0 / sqrt(1e-12)
    Network longer = normalization(1e-12F, how);
    CHECK_FALSE(applied(longer, kBfloat16).what.empty());
    for (const float y : answers(longer, zeros)) CHECK(y == 0);
  }
}

TEST_CASE("a number that loses its digits is refused, and one that loses few is not") {
  const auto refused = [](float number) {
    Network network = normalization(number, Holds::initializer);
    try {
      (void)applied(network, kFloat16);
      return false;
    } catch (const ValueError&) {
      return true;
    }
  };
  CHECK_FALSE(refused(1e-5F));  // 168 of 2^-24: off by 0.1%
  CHECK_FALSE(refused(1e-6F));  // 17 of 2^-24: by 1%
  CHECK(refused(1e-7F));        // 2 of 2^-24: by 19%
}

TEST_CASE("small numbers beside large ones are rounded as others are") {
  Network network("weights");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_parameter("w", Tensor::vector<float>({1, 1e-12F}));
  network.add_node("Mul", {"x", "w"}, {"y"});
  network.add_output("y");
  CHECK_FALSE(applied(network, kFloat16).what.empty());
}

TEST_CASE("a mask of float32's end becomes the shorter type's, and no row is without an answer") {
  const float end = std::numeric_limits<float>::lowest();
  const ValueMap inputs = {{"scores", Tensor::of<float>({2, 2}, {1, 2, 1, 1})},
                           {"hidden", Tensor::of<bool>({2, 2}, {false, true, true, true})}};
  for (const Holds how : kEverywhere) {
    for (const auto& choice : {kFloat16, kBfloat16}) {
      Network network = masked(end, how);
      CHECK_FALSE(applied(network, choice).what.empty());
      CHECK(answers(network, inputs) == std::vector<float>{1, 0, 0.5F, 0.5F});
    }
  }
}

TEST_CASE("a mask beyond the range is refused, with ways out that there are") {
  Network network = masked(-1e9F, Holds::initializer);
  CHECK_THROWS_WITH(applied(network, kFloat16),
                    Contains("Where 'mask': 'number' holds -1e+09, which float16 cannot") &&
                        Contains("type=bfloat16"));
  Network kept = network.copy();
  CHECK_FALSE(applied(network, kBfloat16).what.empty());
  (void)applied(kept, kKeeping);
  const ValueMap inputs = {{"scores", Tensor::of<float>({2, 2}, {1, 2, 1, 1})},
                           {"hidden", Tensor::of<bool>({2, 2}, {false, true, true, true})}};
  CHECK(answers(kept, inputs) == std::vector<float>{1, 0, 0.5F, 0.5F});
  // Beyond bfloat16's range, too: 3.3895e38 ends that.
  Network beyond = masked(-3.4e38F, Holds::initializer);
  CHECK_THROWS_WITH(applied(beyond, kBfloat16), Contains("which bfloat16 cannot") &&
                                                    Contains("out_of_range=float32") &&
                                                    !Contains("type=bfloat16"));
}

TEST_CASE("infinity stays infinity") {
  Network network = masked(-std::numeric_limits<float>::infinity(), Holds::constant_node);
  CHECK_FALSE(applied(network, kFloat16).what.empty());
  const ValueMap inputs = {{"scores", Tensor::of<float>({2, 2}, {1, 2, 1, 1})},
                           {"hidden", Tensor::of<bool>({2, 2}, {false, true, false, false})}};
  CHECK(answers(network, inputs) == std::vector<float>{1, 0, 0.5F, 0.5F});
}

TEST_CASE("a normalization whose epsilon is nothing in the shorter type stays float32") {
  for (const char* op_type : {"LayerNormalization", "InstanceNormalization"}) {
    Network network("normalization");
    const std::int64_t three = 3;
    network.add_input("x", DType::float32, {std::int64_t{1}, three, three});
    network.add_constant("scale", Tensor::vector<float>({1, 1, 1}));
    network.add_constant("bias", Tensor::vector<float>({0, 0, 0}));
    network.add_node("Neg", {"x"}, {"minus"});
    network.add_node(op_type, {"minus", "scale", "bias"}, {"y"}, {{"epsilon", 1e-12F}}, "norm");
    network.add_output("y");
    const auto report = applied(network, kFloat16);
    CHECK_THAT(report.left.at(0),
               Contains("'norm': its epsilon holds 1e-12, which is 0 in float16"));
    for (const float y : answers(network, {{"x", Tensor::zeros(DType::float32, {1, 3, 3})}})) {
      CHECK(y == 0);
    }
  }
}

TEST_CASE("what were integers and will be again is exact") {
  Network network("table");
  network.add_input("id", DType::int64, {std::int64_t{2}});
  network.add_constant("one", Tensor::scalar(1.0F));
  network.add_node("Cast", {"id"}, {"real"}, {{"to", std::int64_t(DType::float32)}}, "real");
  network.add_node("Add", {"real", "one"}, {"next"}, {}, "step");
  network.add_node("Cast", {"next"}, {"index"}, {{"to", std::int64_t(DType::int64)}});
  network.add_parameter("rows", Tensor::vector<float>(std::vector<float>(5000, 0.5F)));
  network.add_node("Gather", {"rows", "index"}, {"row"});
  network.add_node("Neg", {"row"}, {"y"});
  network.add_output("y");
  network.add_output("index");
  const auto report = applied(network, kFloat16);
  CHECK_THAT(report.left.at(0), Contains("Cast 'real': it counts") && Contains("up to 2048"));
  const auto executor = make_executor(network);
  const Tensor index = executor->inference({{"id", Tensor::vector<std::int64_t>({2048, 4096})}})
                           .at("index")
                           .tensor();
  CHECK(index.span<std::int64_t>()[0] == 2049);  // 2048 in float16
  CHECK(index.span<std::int64_t>()[1] == 4097);
}

TEST_CASE("angles of positions are exact") {
  Network network("rotary");
  network.add_constant("from", Tensor::scalar(0.0F));
  network.add_constant("by", Tensor::scalar(1.0F));
  network.add_constant("to", Tensor::scalar(3000.0F));
  network.add_constant("frequency", Tensor::scalar(0.5F));
  network.add_input("x", DType::float32, {std::int64_t{3000}});
  network.add_node("Range", {"from", "to", "by"}, {"position"});
  network.add_node("Mul", {"position", "frequency"}, {"angle"});
  network.add_node("Sin", {"angle"}, {"sine"});
  network.add_node("Mul", {"sine", "x"}, {"y"});
  network.add_output("y");
  CHECK_FALSE(applied(network, kFloat16).what.empty());
  const auto y = answers(network, {{"x", Tensor::vector<float>(std::vector<float>(3000, 1))}});
  for (const std::size_t i : {std::size_t{1}, std::size_t{2049}, std::size_t{2999}}) {
    CHECK(std::abs(y[i] - std::sin(0.5 * double(i))) < 0x1p-10);
  }
}

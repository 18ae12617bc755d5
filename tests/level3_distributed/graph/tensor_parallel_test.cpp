// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "level3_distributed/graph/tensor_pairs.hpp"
#include "level3_distributed/graph/tensor_slices.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

std::vector<NetworkPart> cut(const Network& network, int parts) {
  add_communication_operators();
  return partitions().at("tensor_parallel").make({{"group", "world"}})->cut(network, parts);
}

Network mlp(std::int64_t layers, std::int64_t width) {
  return models().at("mlp").make(
      {{"seed", 5}, {"with_loss", true}, {"layers", layers}, {"width", width}});
}

Network transformer(std::int64_t layers) {
  return models()
      .at("transformer-encoder")
      .make({{"seed", 5},
             {"with_loss", true},
             {"layers", layers},
             {"width", 24},
             {"heads", 12},
             {"hidden", 48},
             {"length", 5},
             {"vocabulary", 11}});
}

/// A variant of an attention layer.
struct AttentionCase {
  std::int64_t heads = 12, key_heads = 12;
  bool packed = true, masked = false, causal = false;
};

/// x + attention(x Wq + bq, x Wk, x Wv) Wo, by ONNX's own operator, and its mean square.
Network attention(const AttentionCase& how) {
  constexpr std::int64_t kWidth = 10, kSize = 2;
  Network network("attention");
  onnx::Model model = network.model();
  model.opset_imports[""] = 24;
  network.rewrite(std::move(model));
  network.add_input("x", DType::float32, {"N", std::int64_t{5}, kWidth});
  std::uint64_t seed = 0;
  const auto parameter = [&](const std::string& name, const Shape& shape) {
    Tensor value = Tensor::empty(DType::float32, shape);
    RandomStream random(++seed);
    for (float& one : value.span<float>()) one = float(random.normal()) * 0.3F;
    network.add_parameter(name, std::move(value));
  };
  const auto shape = [&](const std::string& name, const std::vector<std::int64_t>& dims) {
    network.add_constant(name, Tensor::vector(dims));
  };
  const std::vector<std::int64_t> by_heads{0, 2, 1, 3};
  const auto project = [&](const std::string& name, std::int64_t heads, bool bias) {
    parameter(name + ".weight", {kWidth, heads * kSize});
    network.add_node("MatMul", {"x", name + ".weight"}, {name});
    std::string result = name;
    if (bias) {
      parameter(name + ".bias", {heads * kSize});
      network.add_node("Add", {name, name + ".bias"}, {name + ".add"});
      result = name + ".add";
    }
    if (how.packed) return result;
    shape(name + ".shape", {0, 0, heads, kSize});
    network.add_node("Reshape", {result, name + ".shape"}, {name + ".split"});
    network.add_node("Transpose", {name + ".split"}, {name + ".heads"}, {{"perm", by_heads}});
    return name + ".heads";
  };
  std::vector<std::string> inputs{project("query", how.heads, true),
                                  project("key", how.key_heads, false),
                                  project("value", how.key_heads, false)};
  if (how.masked) {
    network.add_constant("mask", Tensor::zeros(DType::float32, {5, 5}));
    inputs.emplace_back("mask");
  }
  onnx::Node& node = network.add_node("Attention", inputs, {"mean"});
  if (how.packed) node.attributes["q_num_heads"] = how.heads;
  if (how.packed) node.attributes["kv_num_heads"] = how.key_heads;
  if (how.causal) node.attributes["is_causal"] = std::int64_t{1};
  std::string mean = "mean";
  if (!how.packed) {
    shape("join", {0, 0, how.heads * kSize});
    network.add_node("Transpose", {mean}, {"places"}, {{"perm", by_heads}});
    network.add_node("Reshape", {"places", "join"}, {"joined"});
    mean = "joined";
  }
  parameter("output.weight", {how.heads * kSize, kWidth});
  network.add_node("MatMul", {mean, "output.weight"}, {"output"});
  network.add_node("Add", {"output", "x"}, {"sum"});
  network.add_node("Mul", {"sum", "sum"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

double norm_of_difference(const Tensor& a, const Tensor& b, double& size) {
  double difference = 0;
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    difference += std::pow(double(a.data<float>()[i]) - b.data<float>()[i], 2);
    size += std::pow(double(b.data<float>()[i]), 2);
  }
  return std::sqrt(difference);
}

/// Compares the gradients of this rank's part of `whole` with those of `whole`, on the same inputs.
void check_gradients(Network whole, const OpenSizes& sizes, std::int64_t calls_a_pair) {
  const auto pairs = detail::tensor_pairs(whole);
  std::map<std::string, std::size_t> axes;
  for (const auto& pair : pairs) {
    for (const auto& one : pair.cuts) axes[one.name] = one.axis;
  }
  Network part = cut(whole, rank_count).at(std::size_t(this_rank)).network;
  const ValueMap inputs = random_inputs(whole, sizes);
  const auto uncut = make_executor(whole), mine = make_executor(part);
  const ValueMap& expected = uncut->inference_and_backprop(inputs, "loss");
  const auto calls = [] {
    const auto& lines = world()->traffic().by_call;
    const auto place = lines.find("all_reduce");
    return place == lines.end() ? std::int64_t{0} : place->second.calls;
  };
  const std::int64_t before = calls();
  const ValueMap& outputs = mine->inference_and_backprop(inputs, "loss");
  CHECK(calls() - before == calls_a_pair);
  // Sums of a row in parts: what a sum of some hundred float32 products rounds to.
  const float loss = expected.at("loss").tensor().item<float>();
  CHECK(outputs.at("loss").tensor().item<float>() == Approx(loss).epsilon(1e-5));
  REQUIRE(part.parameters().size() == whole.parameters().size());
  for (const Parameter& parameter : whole.parameters()) {
    CAPTURE(parameter.name);
    const auto axis = axes.find(parameter.name);
    const Tensor its = axis == axes.end() ? parameter.gradient
                                          : detail::part_of(parameter.gradient, axis->second,
                                                            this_rank, rank_count);
    const Tensor& gradient = part.parameter(parameter.name).gradient;
    REQUIRE(gradient.shape() == its.shape());
    double size = 0;
    const double difference = norm_of_difference(gradient, its, size);
    CHECK(difference <= 1e-5 * std::sqrt(size) + 1e-9);
    if (axis != axes.end()) continue;
    Tensor first = gradient.copy();
    world()->broadcast(first, 0);
    CHECK(std::memcmp(first.raw(), gradient.raw(), first.bytes()) == 0);
  }
}

}  // namespace

TEST_CASE("parts of tensors have the gradients of the uncut network") {
  // One pair, whose input is the network's and wants no gradient: an all-reduce forward.
  check_gradients(mlp(1, 12), {.batch = 4}, 1);
  // Two pairs: the second has one backward, too.
  check_gradients(mlp(3, 24), {.batch = 4}, 3);
}

TEST_CASE("a transformer's heads and its linear layers are shared") {
  Network whole = transformer(2);
  const auto pairs = detail::tensor_pairs(whole);
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].columns.size() == 3);
  CHECK(pairs[0].units == 12);  // heads
  CHECK(pairs[1].columns.size() == 1);
  // Each layer has two all-reduces forward and two backward (Shoeybi et al. 2019, figure 4).
  check_gradients(whole, {.batch = 2}, 8);
}

TEST_CASE("heads of ONNX's own Attention are shared, packed or not") {
  for (const bool packed : {true, false}) {
    for (const std::int64_t key_heads : {12, 24}) {
      CAPTURE(packed, key_heads);
      Network whole = attention({.heads = 24,
                                 .key_heads = key_heads,
                                 .packed = packed,
                                 .masked = packed,
                                 .causal = true});
      const auto pairs = detail::tensor_pairs(whole);
      REQUIRE(pairs.size() == 1);
      CHECK(pairs[0].columns.size() == 3);
      CHECK(pairs[0].units == key_heads);
      CHECK(pairs[0].cuts.size() == 5);         // four weights and a bias
      check_gradients(whole, {.batch = 2}, 1);  // x wants no gradient
    }
  }
}

TEST_CASE("an Attention is whole where its heads do not stand alone") {
  Network trained_mask = attention({.masked = true});
  trained_mask.splice(
      {.remove = {"mask"}, .parameters = {{"mask", Tensor::zeros(DType::float32, {5, 5})}}});
  CHECK(detail::tensor_pairs(trained_mask).empty());
  Network mask_by_head = attention({.masked = true});
  mask_by_head.splice(
      {.remove = {"mask"}, .constants = {{"mask", Tensor::zeros(DType::float32, {12, 5, 5})}}});
  CHECK(detail::tensor_pairs(mask_by_head).empty());
  Network seen = attention({});
  seen.add_output("key");
  CHECK(detail::tensor_pairs(seen).empty());
  CHECK_THROWS_WITH(cut(attention({.key_heads = 4}), 3), Catch::Contains("4 heads"));
}

TEST_CASE("pairs are linear layers with functions of single elements between") {
  const auto pairs = detail::tensor_pairs(mlp(3, 8));
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].units == 8);
  CHECK(pairs[0].cuts.size() == 3);  // two weights and the first bias
  CHECK(detail::tensor_pairs(mlp(0, 8)).empty());
  // Another reader of the tensor in between would see only a part.
  Network seen = mlp(1, 8);
  seen.add_output("relu1.out");
  CHECK(detail::tensor_pairs(seen).empty());
}

TEST_CASE("a part has its share of each tensor that is cut") {
  Network whole = mlp(1, 12);
  for (int k = 1; k <= 4; ++k) {
    const auto parts = cut(whole, k);
    REQUIRE(parts.size() == std::size_t(k));
    for (const auto& part : parts) {
      Network network = part.network;
      CHECK(network.fetch("fc1.weight").elements() * k == whole.fetch("fc1.weight").elements());
      CHECK(network.fetch("fc1.bias").elements() * k == 12);
      CHECK(network.fetch("fc2.weight").elements() * k == 120);
      CHECK(network.fetch("fc2.bias").elements() == 10);
    }
  }
}

TEST_CASE("parts along an axis come together again") {
  Tensor whole = Tensor::of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(detail::part_of(whole, 1, 1, 2).span<float>()[2] == 6);
  CHECK(detail::part_of(whole, 0, 1, 2).span<float>()[0] == 4);
  for (const std::size_t axis : {0, 1}) {
    Tensor all = Tensor::empty(DType::float32, {8}), joined = Tensor::zeros(DType::float32, {2, 4});
    for (int p = 0; p < 2; ++p) {
      const Tensor part = detail::part_of(whole, axis, p, 2);
      all.slice(4 * p, 4 * p + 4).copy_from(part.reshaped({4}));
    }
    detail::join_parts(all, axis, 2, joined);
    CHECK(std::memcmp(joined.raw(), whole.raw(), whole.bytes()) == 0);
  }
}

TEST_CASE("tensors that cannot be cut are named") {
  CHECK_THROWS_AS(cut(mlp(1, 10), 4), ShapeError);
  CHECK_THROWS_WITH(cut(mlp(1, 10), 4), Catch::Contains("fc1.weight"));
  CHECK_THROWS_AS(cut(mlp(0, 10), 2), Unsupported);
  CHECK_THROWS_AS(cut(mlp(1, 10), 0), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/value_descs.hpp"

#include <catch2/catch.hpp>

#include "d5/level1_network/graph/network.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace d5;

TEST_CASE("sizes that are computed from sizes are computed") {
  // Exporters' flatten: x -> NxCxHxW -> Nx(C H W)
  Network network("flattens");
  network.add_input("x", DType::float32, {"N", 2, 3, 4});
  network.add_constant("first", Tensor::of<std::int64_t>({1}, {0}));
  network.add_constant("rest", Tensor::of<std::int64_t>({1}, {-1}));
  network.add_node("Shape", {"x"}, {"sizes"});
  network.add_node("Gather", {"sizes", "first"}, {"batch"}, {{"axis", std::int64_t{0}}});
  network.add_node("Concat", {"batch", "rest"}, {"flat"}, {{"axis", std::int64_t{0}}});
  network.add_node("Reshape", {"x", "flat"}, {"y"});
  network.add_node("Relu", {"y"}, {"z"});
  network.add_output("z");
  const ValueDescs descs =
      infer_values(network.graph(), [](const onnx::Dim&) { return std::int64_t{5}; });
  CHECK(descs.at("z").tensor == TensorDesc{DType::float32, {5, 24}});
}

TEST_CASE("what depends on data is left out, and all that depends on it") {
  Network network("depends");
  network.add_input("x", DType::float32, {3});
  network.add_input("sizes", DType::int64, {2});
  network.add_node("Reshape", {"x", "sizes"}, {"y"});
  network.add_node("NonZero", {"x"}, {"places"});
  network.add_output("y");
  network.add_output("places");
  const ValueDescs descs =
      infer_values(network.graph(), [](const onnx::Dim&) { return std::int64_t{1}; });
  CHECK(descs.contains("x"));
  CHECK_FALSE(descs.contains("y"));
  CHECK_FALSE(descs.contains("places"));
}

namespace {

/// One branch has 2 rows of what is outside, the other makes nothing of it that fits.
Network chooses() {
  const auto taken =
      subgraphs::graph({}, {subgraphs::node("Gather", {"x", "first"}, {"rows"})}, {"rows"});
  const auto other =
      subgraphs::graph({}, {subgraphs::node("Reshape", {"x", "shape"}, {"square"})}, {"square"});
  Network network("chooses");
  network.add_input("x", DType::float32, {"N", 4});
  network.add_input("rate", DType::int64, {});
  network.add_constant("known", Tensor::of<std::int64_t>({}, {16000}));
  network.add_constant("first", Tensor::vector<std::int64_t>({0, 1}));
  network.add_constant("shape", Tensor::vector<std::int64_t>({7, 7}));
  network.add_node("Equal", {"rate", "known"}, {"is_known"});
  network.add_node("If", {"is_known"}, {"y"}, {{"then_branch", taken}, {"else_branch", other}});
  network.add_node("Relu", {"y"}, {"z"});
  network.add_output("z");
  return network;
}

}  // namespace

TEST_CASE("known values of inputs decide which branch is described") {
  const Network network = chooses();
  const ValueDescs fed{{"x", TensorDesc{DType::float32, {3, 4}}},
                       {"rate", TensorDesc{DType::int64, {}}}};
  const auto with_rate = [&](std::int64_t rate) {
    return infer_graph(network.graph(), fed,
                       {{"rate", Value(Tensor::of<std::int64_t>({}, {rate}))}});
  };
  const Inference known = with_rate(16000);
  CHECK(known.refusal.empty());
  CHECK(known.descs.at("z").tensor == TensorDesc{DType::float32, {2, 4}});
  const Inference other = with_rate(1);
  CHECK_THAT(other.refusal, Catch::Contains("Reshape"));
  CHECK_FALSE(other.descs.contains("z"));
  CHECK_FALSE(infer_graph(network.graph(), fed).descs.contains("z"));  // nobody knows which
  CHECK_FALSE(infer_values(network.graph(), fed).contains("rows"));
}

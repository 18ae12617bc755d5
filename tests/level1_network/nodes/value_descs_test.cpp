// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/value_descs.hpp"

#include <catch2/catch.hpp>

#include "d5/level1_network/network.hpp"

using namespace d5;

TEST_CASE("sizes that are computed from sizes are computed") {
  // As exporters flatten: x -> NxCxHxW -> Nx(C H W)
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

// SPDX-License-Identifier: Apache-2.0
// Networks of old opsets in a new one. tests/onnx/old_opsets.py goes through all operators.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "tests/level1_network/transform_networks.hpp"

using namespace d5;
using namespace d5::transformed;
using Catch::Contains;

namespace {

/// The same nodes, with the meaning that they have in another opset.
Network of_opset(const Network& network, int opset) {
  onnx::Model model = network.model();
  model.opset_imports[""] = opset;
  for (auto& node : model.graph.nodes) node.opset = opset;
  Network other = network.copy();
  other.rewrite(std::move(model));
  return other;
}

std::vector<float> numbers_of(const Network& network, const ValueMap& inputs) {
  const auto executor = make_executor(network);
  const Tensor y = executor->inference(inputs).at("y").tensor();
  return {y.span<float>().begin(), y.span<float>().end()};
}

Network resized(const char* mode, std::vector<float> scales) {
  Network network("resized");
  const std::int64_t one = 1;
  network.add_input("x", DType::float32, {one, one, std::int64_t{2}});
  network.add_constant("scales", Tensor::vector<float>(scales));
  network.add_node("Resize", {"x", "scales"}, {"y"}, {{"mode", std::string(mode)}}, "up");
  network.add_output("y");
  return of_opset(network, 10);
}

}  // namespace

TEST_CASE("resized pixels of opset 10 begin where the image begins") {
  const ValueMap inputs = {{"x", Tensor::of<float>({1, 1, 2}, {0, 1})}};
  for (const int opset : {11, 13, 21, 28}) {
    Network network = resized("linear", {1, 1, 2});
    const auto steps = apply_transforms(network, {{"opset", {{"version", opset}}}});
    CHECK(steps.at(0).report.left.empty());
    CHECK(doubt_of(network).empty());
    CHECK(numbers_of(written(network), inputs) == std::vector<float>{0, 0.5F, 1, 1});
  }
  Network shrunk = resized("nearest", {1, 1, 0.5F});
  (void)applied(shrunk, {"opset"});
  CHECK(numbers_of(shrunk, inputs) == std::vector<float>{0});
}

TEST_CASE("what only a run tells is refused with the node, where the meaning depends on it") {
  Network network("open");
  const std::int64_t one = 1;
  network.add_input("x", DType::float32, {one, one, std::int64_t{2}});
  network.add_input("scales", DType::float32, {std::int64_t{3}});
  network.add_node("Resize", {"x", "scales"}, {"y"}, {}, "up");
  network.add_output("y");
  Network old = of_opset(network, 10);
  CHECK_THROWS_WITH(apply_transforms(old, {{"opset"}}), Contains("from opset 10 to 28") &&
                                                            Contains("Resize 'up'") &&
                                                            Contains("'scales' are not constant"));
  CHECK(old.model().opset_imports.at("") == 10);
}

TEST_CASE("a Hardmax of opset 12 chooses one of all that lies behind its axis") {
  Network network("chosen");
  network.add_input("x", DType::float32, {std::int64_t{1}, std::int64_t{2}, std::int64_t{2}});
  network.add_node("Hardmax", {"x"}, {"y"});
  network.add_output("y");
  Network old = of_opset(network, 12);
  (void)apply_transforms(old, {{"opset"}});
  CHECK(doubt_of(old).empty());
  CHECK(numbers_of(old, {{"x", Tensor::of<float>({1, 2, 2}, {1, 2, 4, 3})}}) ==
        std::vector<float>{0, 0, 1, 0});
}

TEST_CASE("weights of any size keep their memory, and are trained") {
  Network network("wide");
  network.add_input("x", DType::float32, {"N", std::int64_t{64}});
  network.add_parameter("w", drawn({64, 64}, 1));
  network.add_node("MatMul", {"x", "w"}, {"h"});
  network.add_node("Softmax", {"h"}, {"y"}, {{"axis", std::int64_t{0}}});
  network.add_output("y");
  Network old = of_opset(network, 11);
  const void* before = old.fetch("w").raw();
  CHECK_FALSE(applied(old, {"opset"}).what.empty());
  CHECK(old.is_parameter("w"));
  CHECK(old.fetch("w").raw() == before);
  CHECK(old.input_names() == std::vector<std::string>{"x"});
}

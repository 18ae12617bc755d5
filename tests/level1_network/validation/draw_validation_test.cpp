// SPDX-License-Identifier: Apache-2.0
// Networks that draw random numbers are judged by the distribution of what they draw: right ones
// pass, each planted error fails.
#include "level1_network/validation/draw_validation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
namespace nodes = d5::onnx::nodes;

namespace {

constexpr std::int64_t kElements = 10;
using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

Tensor probabilities() {
  Tensor p = Tensor::empty(DType::float32, {kElements});
  for (int i = 0; i < kElements; ++i) p.data<float>()[i] = 0.05F + 0.1F * float(i);
  return p;
}

Tensor zeros() { return Tensor::zeros(DType::float32, {kElements}); }

Network with_input() {
  Network network("draws");
  network.add_input("x", DType::float32, {kElements});
  return network;
}

Network bernoulli(Attributes attributes = {}) {
  Network network = with_input();
  network.add_node("Bernoulli", {"x"}, {"y"}, std::move(attributes));
  network.add_output("y");
  return network;
}

/// ONNX's Bernoulli as a function; it draws 1 with probability 1 - x.
Network expanded_bernoulli() {
  Network network = with_input();
  network.add_node("RandomUniformLike", {"x"}, {"drawn"});
  network.add_node("Greater", {"drawn", "x"}, {"greater"});
  network.add_node("Cast", {"greater"}, {"y"}, {{"to", std::int64_t(DType::float32)}});
  network.add_output("y");
  return network;
}

Network dropout(Attributes attributes = {}) {
  Network network = with_input();
  network.add_constant("ratio", Tensor::scalar(0.75F));
  network.add_constant("training", Tensor::scalar(true));
  network.add_node("Dropout", {"x", "ratio", "training"}, {"y"}, std::move(attributes));
  network.add_output("y");
  return network;
}

/// The reason of the first record that failed; empty: all passed.
std::string complaint(const Network& network, const std::vector<std::string>& frameworks) {
  const testing::TemporaryFolder folder;
  testing::write_test_folder(folder / "case", network, {{"x", probabilities()}}, {{"y", zeros()}});
  const auto records = test_folder(folder / "case", {.frameworks = frameworks});
  REQUIRE(records.size() >= 2);  // the output, and what was drawn
  const auto failed = std::ranges::find(records, Status::failed, &Measurement::status);
  return failed == records.end() ? "" : failed->reason;
}

/// Makes a framework of one kernel, with an error in it. Returns its name.
template <class View>
std::string planted(const std::string& name, std::function<void(OpContext&)> forward) {
  add_framework(name, "1", [=](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel<View>(
        [=](PlanContext&) { return detail::forward_kernel(forward); });
  });
  return name;
}

/// y[i] is 1 where `draw(x[i])` says so.
auto coins(const std::function<bool(RandomStream&, float)>& draw) {
  return [=](OpContext& run) {
    RandomStream random = run.services().random();
    const auto x = run.input(0).span<float>();
    std::ranges::transform(x, run.output(0).data<float>(),
                           [&](float p) { return draw(random, p) ? 1.0F : 0.0F; });
  };
}

}  // namespace

TEST_CASE("a network that draws what its nodes say passes, with seeds of its own too") {
  CHECK(complaint(bernoulli(), {"reference"}) == "");
  CHECK(complaint(bernoulli({{"seed", 3.0F}}), {"reference"}) == "");
  CHECK(complaint(expanded_bernoulli(), {"reference"}) == "");
  CHECK(complaint(dropout(), {"reference"}) == "");
  CHECK(complaint(dropout({{"seed", std::int64_t{3}}}), {"reference"}) == "");
}

TEST_CASE("a record tells what was judged, on how many draws") {
  const testing::TemporaryFolder folder;
  testing::write_test_folder(folder / "case", expanded_bernoulli(), {{"x", probabilities()}},
                             {{"y", zeros()}});
  const auto records = test_folder(folder / "case", {});
  REQUIRE(records.size() == 3);
  CHECK(records[0].conditions.at("compared") == "type and shape: it is random");
  CHECK_THAT(records[1].conditions.at("tensor").text(),
             Catch::StartsWith("draws of RandomUniformLike"));
  CHECK(records[1].conditions.at("compared") == "the distribution of 20000 draws");
  CHECK(records[1].samples.at(0) < 0.02);
  CHECK(records[2].conditions.at("tensor") == "output y of these draws");
}

TEST_CASE("a wrong probability is found") {
  const auto wrong = planted<nodes::Bernoulli>(
      "biased", coins([](RandomStream& random, float p) { return random.uniform() < p + 0.03F; }));
  CHECK_THAT(complaint(bernoulli(), {wrong}), Catch::Contains("their mean"));
}

TEST_CASE("probabilities of the wrong elements are found, though they are right on average") {
  const auto wrong = planted<nodes::Bernoulli>(
      "levelled", coins([](RandomStream& random, float) { return random.uniform() < 0.5F; }));
  CHECK_THAT(complaint(bernoulli(), {wrong}), Catch::Contains("standard errors off"));
}

TEST_CASE("one draw for all elements is found") {
  const auto wrong = planted<nodes::Bernoulli>("shared", [](OpContext& run) {
    const float drawn = run.services().random().uniform();
    std::ranges::transform(run.input(0).span<float>(), run.output(0).data<float>(),
                           [&](float p) { return drawn < p ? 1.0F : 0.0F; });
  });
  CHECK_THAT(complaint(bernoulli(), {wrong}), Catch::Contains("standard errors off"));
}

TEST_CASE("the same draws in every run are found") {
  const auto wrong = planted<nodes::Bernoulli>("stuck", [](OpContext& run) {
    RandomStream random(7);
    std::ranges::transform(run.input(0).span<float>(), run.output(0).data<float>(),
                           [&](float p) { return random.uniform() < p ? 1.0F : 0.0F; });
  });
  CHECK_THAT(complaint(bernoulli(), {wrong}), Catch::Contains("standard errors off"));
}

TEST_CASE("a wrong scale of dropout is found, and a wrong ratio") {
  const auto with = [](float ratio, float scale) {
    return [=](OpContext& run) {
      RandomStream random = run.services().random();
      std::ranges::transform(run.input(0).span<float>(), run.output(0).data<float>(),
                             [&](float x) { return random.uniform() < ratio ? 0.0F : x * scale; });
    };
  };
  CHECK(complaint(dropout(), {planted<nodes::Dropout>("dropped", with(0.75F, 4))}) == "");
  CHECK_THAT(complaint(dropout(), {planted<nodes::Dropout>("unscaled", with(0.75F, 1))}),
             Catch::Contains("with probability 0.75"));
  CHECK_THAT(complaint(dropout(), {planted<nodes::Dropout>("sparing", with(0.72F, 4))}),
             Catch::Contains("standard errors off"));
}

TEST_CASE("what makes the wrong thing of right draws is found") {
  const auto wrong = planted<nodes::Greater>("smaller", [](OpContext& run) {
    std::ranges::transform(run.input(0).span<float>(), run.input(1).span<float>(),
                           run.output(0).data<bool>(), std::less<>());
  });
  CHECK_THAT(complaint(expanded_bernoulli(), {wrong, "reference"}),
             Catch::Contains("output y of these draws"));
}

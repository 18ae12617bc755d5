// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/placement.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "tests/level1_network/toy_framework.hpp"

using namespace d5;

namespace {

class DoubleKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    for (std::int64_t i = 0; i < context.input(0).elements(); ++i) {
      context.output(0).data<float>()[i] = 2 * context.input(0).data<float>()[i];
    }
  }
};

/// A framework whose Relu and Neg double, so that it shows who ran; it has Relu for float32 alone.
const std::string& doubling() {
  static const std::string name = [] {
    add_framework("doubling", "1", [](Framework& framework) {
      auto& registry = framework.part<OperatorRegistry>();
      const auto plan = [](PlanContext&) { return std::make_unique<DoubleKernel>(); };
      registry.add_kernel("Neg", {}, plan);
      registry.add_kernel("Relu", {}, plan, [](const PlanContext& context) {
        return context.dtype(0) == DType::float32 ? Support{}
                                                  : Support{std::string(name_of(context.dtype(0)))};
      });
    });
    return std::string("doubling");
  }();
  return name;
}

/// Relu, Relu, Neg, Softplus in a row.
Network placed_chain(DType dtype = DType::float32) {
  Network network("chain");
  network.add_input("x", dtype, {1});
  network.add_node("Relu", {"x"}, {"a"}, {}, "stage1.relu");
  network.add_node("Relu", {"a"}, {"b"}, {}, "stage2.relu");
  network.add_node("Neg", {"b"}, {"c"}, {}, "stage2.neg");
  network.add_node("Softplus", {"c"}, {"d"}, {}, "end");
  network.add_output("c");
  network.add_output("d");
  return network;
}

/// c of x = 1, and who ran each node.
std::pair<float, std::vector<std::string>> run(Placement placement) {
  (void)doubling();
  const auto executor = make_executor(placed_chain(), {.placement = std::move(placement)});
  const ValueMap& outputs = executor->inference({{"x", Tensor::vector<float>({1})}});
  std::vector<std::string> frameworks;
  for (const StepInfo& step : planned_steps(*executor)) frameworks.emplace_back(step.framework);
  return {outputs.at("c").tensor().span<float>()[0], frameworks};
}

}  // namespace

TEST_CASE("rules place nodes by operator, by name and by pattern, and the first decides") {
  using Frameworks = std::vector<std::string>;
  CHECK(run({}).first == -1);
  CHECK(run({{"Relu", doubling()}}).first == -4);
  CHECK(run({{"node:stage1.relu", doubling()}}).first == -2);
  const auto [c, frameworks] = run({{"node:stage2.*", doubling()}});
  CHECK(c == 4);
  CHECK(frameworks == Frameworks{"reference", doubling(), doubling(), "reference"});
  CHECK(run({{"Neg", "reference"}, {"node:stage2.*", doubling()}}).first == -2);
  CHECK(run({{"*", doubling() + "+reference"}}).first == 8);
}

TEST_CASE("a rule of a node that its framework lacks is refused with rule, node and reason") {
  (void)doubling();
  const Placement softplus{{"Softplus", doubling()}};
  CHECK_THROWS_AS(run(softplus), Unsupported);
  CHECK_THROWS_WITH(run(softplus), Catch::Contains("Softplus 'end'") &&
                                       Catch::Contains("placed by Softplus=doubling") &&
                                       Catch::Contains("doubling does not support"));
  const auto executor =
      make_executor(placed_chain(DType::float64), {.placement = {{"Relu", doubling()}}});
  CHECK_THROWS_WITH(executor->inference({{"x", Tensor::vector<double>({1})}}),
                    Catch::Contains("Relu 'stage1.relu'") && Catch::Contains("float64"));
}

TEST_CASE("a rule that matches nothing is a misprint, as is an unknown framework") {
  (void)doubling();
  CHECK_THROWS_AS(run({{"Relo", doubling()}}), NotFound);
  CHECK_THROWS_WITH(run({{"Relo", doubling()}}), Catch::Contains("did you mean Relu"));
  CHECK_THROWS_WITH(run({{"node:stage3.relu", doubling()}}),
                    Catch::Contains("did you mean node:stage1.relu"));
  CHECK_THROWS_WITH(run({{"Relu", "doublin"}}), Catch::Contains("did you mean doubling"));
  CHECK_THROWS_AS(run({{"Relu", "torch:torch"}}), ValueError);
}

TEST_CASE("rules are written as words and read again") {
  const PlacementRule rule = placement_rule("node:fc*=torch+reference");
  CHECK(rule.nodes == "node:fc*");
  CHECK(frameworks_of(rule) == std::vector<std::string>{"torch", "reference"});
  CHECK(to_string(rule) == "node:fc*=torch+reference");
  CHECK(to_words({{"Conv", "torch"}, rule}) == "Conv=torch,node:fc*=torch+reference");
  for (const char* word : {"Conv", "=torch", "Conv=", ""}) {
    CHECK_THROWS_AS(placement_rule(word), ValueError);
  }
}

TEST_CASE("nodes of nested graphs are placed, too") {
  (void)doubling();
  auto body = std::make_shared<onnx::Graph>();
  body->name = "body";
  body->inputs = {{"v", {}}};
  onnx::Node node;
  node.name = "inner";
  node.op_type = "Neg";
  node.opset = 13;
  node.inputs = {"v"};
  node.outputs = {"w"};
  body->nodes = {node};
  body->outputs = {{"w", {}}};
  Network network("nested");
  network.add_input("x", DType::float32, {1});
  network.add_node(
      "Repeat", {"x"}, {"y"},
      {{"body", std::shared_ptr<const onnx::Graph>(body)}, {"times", std::int64_t{3}}});
  network.add_output("y");
  const auto executor = make_executor(network, {.frameworks = {toy::name(), "reference"},
                                                .placement = {{"node:inner", doubling()}}});
  const ValueMap& outputs = executor->inference({{"x", Tensor::vector<float>({1})}});
  CHECK(outputs.at("y").tensor().span<float>()[0] == 8);
}

TEST_CASE("a record says where nodes were placed, and its command places them again") {
  const auto records =
      plan_network("lenet", {.frameworks = {"reference"}, .placement = {{"Conv", "reference"}}});
  REQUIRE(records.size() == 1);
  CHECK(records.front().status == Status::skipped);
  CHECK(records.front().conditions.at("placement") == "Conv=reference");
  const auto measured = bench_network(
      "lenet", {.placement = {{"Conv", "reference"}}, .measuring = {.samples = 1, .warmup = 0}});
  CHECK_THAT(measured.front().command, Catch::Contains("--place Conv=reference"));
}

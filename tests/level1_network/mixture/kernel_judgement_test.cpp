// SPDX-License-Identifier: Apache-2.0
// Whom "auto" refuses: kernels that fail, differ, or write where they may only read.
#include <catch2/catch.hpp>

#include "d5/level1_network/mixture/framework_selection.hpp"
#include "tests/level1_network/timed_choices.hpp"

using namespace d5;
using namespace timed;
using Catch::Contains;
using Names = std::vector<std::string>;

TEST_CASE(
    "a kernel that fails or computes something else is refused and named; its framework stays") {
  const Fresh fresh;
  take_turns();
  world.costs["beta"] = {{"Up", 1}, {"Over", 1}};
  const std::string fault = GENERATE("throws", "nan", "wrong");
  CAPTURE(fault);
  world.faults["beta Over"] = fault;
  PlanExecutor executor = executor_of(chain());
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(frameworks_of(selection) == Names{"beta", "alpha", "beta"});
  REQUIRE(selection.refusals.size() == 1);
  CHECK(selection.refusals.front().framework == "beta");
  CHECK_THAT(selection.refusals.front().reason, Contains("Over") || Contains("out of order"));
}

TEST_CASE("what a kernel writes is judged where somebody reads it") {
  const Fresh fresh;
  take_turns();
  world.faults["beta Over"] = "wrong beside";
  const bool is_read = GENERATE(false, true);
  Network network("beside");
  network.add_input("x", DType::float32, {4});
  add_operator(network, "Up", "x", {"a"});
  add_operator(network, "Over", "a", {"b", "beside"});
  add_operator(network, "Up", "b", {"y"});
  network.add_output("y");
  if (is_read) network.add_output("beside");
  PlanExecutor executor = executor_of(network);
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(selection.refusals.empty() != is_read);
  CHECK(frameworks_of(selection) == Names{"alpha", is_read ? "alpha" : "beta", "alpha"});
}

TEST_CASE("a kernel that changes what it reads is refused, and what it changed is put back") {
  const Fresh fresh;
  take_turns();
  world.costs["beta"] = {{"Up", 1}, {"Over", 5}};
  world.faults["beta Up"] = "changes";
  PlanExecutor executor = executor_of(chain());
  const ValueMap inputs = fed();
  const ValueMap& outputs = executor.inference(inputs);
  CHECK(outputs.at("y").tensor().span<float>()[0] == 3);
  CHECK(inputs.at("x").tensor().span<float>()[0] == 0);
  const FrameworkSelection selection = framework_selection(executor);
  CHECK(frameworks_of(selection) == Names{"alpha", "alpha", "alpha"});
  REQUIRE_FALSE(selection.refusals.empty());
  CHECK(selection.refusals.front().framework == "beta");
  CHECK_THAT(selection.refusals.front().reason, Contains("changes input 0"));
}

TEST_CASE("reorders may write where the step before them read") {
  const Fresh fresh;
  take_turns();
  world.arranging = {"beta"};
  world.reordering = 0.25;
  PlanExecutor executor = executor_of(chain({"Up", "Over", "Up", "Over", "Up", "Over"}));
  const ValueMap inputs = fed();
  CHECK(executor.inference(inputs).at("y").tensor().span<float>()[0] == 6);
  CHECK(framework_selection(executor).refusals.empty());
}

TEST_CASE("so is one that changes a parameter, or a gradient that others read") {
  const Fresh fresh;
  world.costs["beta"] = {{"Up", 0.5}, {"Up'", 0.5}};
  world.faults["beta Up"] = GENERATE("changes", "changes back");
  Network network = trained();
  PlanExecutor executor = executor_of(network);
  CHECK(executor.inference_and_backprop({}, "loss").at("loss").tensor().item<float>() == 3);
  CHECK(network.fetch("w").item<float>() == 2);
  CHECK(network.parameters().front().gradient.item<float>() == 1);
  CHECK(frameworks_of(framework_selection(executor)) == Names{"alpha"});
}

TEST_CASE("kernels in a branch that is planned in the place of its If are judged as well") {
  const Fresh fresh;
  take_turns();
  world.costs["beta"] = {{"Up", 1}, {"Over", 1}};
  world.faults["beta Over"] = "wrong";
  auto branch = std::make_shared<onnx::Graph>();
  branch->nodes = chain().graph().nodes;
  branch->outputs = {{"y", {}}};
  Network network("branch");
  network.add_input("x", DType::float32, {"N"});
  network.add_constant("known", Tensor::scalar(true));
  network.add_node("If", {"known"}, {"y"}, {{"then_branch", branch}, {"else_branch", branch}},
                   "choice");
  network.add_output("y");
  PlanExecutor executor = executor_of(network);
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(frameworks_of(selection) == Names{"beta", "alpha", "beta"});
  REQUIRE(selection.refusals.size() == 1);
  CHECK(selection.refusals.front().framework == "beta");
}

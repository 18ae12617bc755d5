// SPDX-License-Identifier: Apache-2.0
// What "auto" chooses, where costs are known.
#include "d5/level1_network/framework_selection.hpp"

#include <catch2/catch.hpp>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/execution_interrupt.hpp"
#include "d5/level1_network/planned_steps.hpp"
#include "level1_network/plan_executor.hpp"
#include "tests/level1_network/timed_frameworks.hpp"

using namespace d5;
using Catch::Contains;
using timed::world;
using Names = std::vector<std::string>;

namespace {

PlanExecutor executor_of(const Network& network,
                         ExecutorOptions options = {.frameworks = {"auto"}}) {
  timed::use_frameworks();
  for (const char* op : {"Up", "Over", "On"}) world.costs["slow"][op] = 100;
  return PlanExecutor(network, std::move(options), {.clock = timed::clock, .most_seconds = 1e9});
}

ValueMap fed(std::int64_t size = 4) {
  Tensor x = Tensor::zeros(DType::float32, {size});
  for (std::int64_t i = 0; i < size; ++i) x.data<float>()[i] = float(i);
  return {{"x", x}};
}

Names frameworks_of(const FrameworkSelection& selection) {
  Names result;
  for (const auto& node : selection.nodes) result.push_back(node.framework);
  return result;
}

/// Up is alpha's, Over beta's.
void take_turns() {
  world.costs["alpha"] = {{"Up", 2}, {"Over", 3}};
  world.costs["beta"] = {{"Up", 3}, {"Over", 2}};
}

FrameworkSelection chosen_for(PlanExecutor& executor) {
  const ValueMap inputs = fed();
  const auto y = executor.inference(inputs).at("y").tensor().span<float>();
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{3, 4, 5, 6});
  return framework_selection(executor);
}

}  // namespace

TEST_CASE("each node runs where it is fastest if nothing stands against it") {
  const timed::Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(timed::chain());
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(selection.chosen == "mixture");
  CHECK(frameworks_of(selection) == Names{"alpha", "beta", "alpha"});
  const auto& over = selection.nodes.at(1);
  CHECK(over.op_type == "Over");
  CHECK(over.seconds == 2);
  CHECK(over.runner_up == "alpha");
  CHECK(over.ratio.ratio == 1.5);
  REQUIRE(selection.ways.size() >= 2);
  CHECK(selection.ways.front().name == "mixture");
  CHECK(selection.ways.front().seconds == 6);
  CHECK(selection.ways.at(1).seconds == 7);
  CHECK(planned_steps(executor).at(1).framework == "beta");
}

TEST_CASE("what is fastest node by node is not chosen where reorders cost more than it saves") {
  const timed::Fresh fresh;
  take_turns();
  world.arranging = {"beta"};
  world.reordering = GENERATE(5.0, 0.25);
  PlanExecutor executor = executor_of(timed::chain());
  const FrameworkSelection selection = chosen_for(executor);
  if (world.reordering == 5) {
    CHECK(selection.chosen == "alpha");
    CHECK(frameworks_of(selection) == Names{"alpha", "alpha", "alpha"});
    CHECK(selection.reorders == 0);
  } else {
    CHECK(frameworks_of(selection) == Names{"alpha", "beta", "alpha"});
    CHECK(selection.reorders == 1);
    CHECK(selection.ways.front().seconds == 6.25);
  }
}

TEST_CASE("what a change of frameworks costs is learnt by running mixtures") {
  const timed::Fresh fresh;
  take_turns();
  world.switching = 4;
  PlanExecutor executor = executor_of(timed::chain());
  CHECK(frameworks_of(chosen_for(executor)) == Names{"alpha", "alpha", "alpha"});
}

TEST_CASE("a stretch that one framework runs much faster is worth two changes") {
  const timed::Fresh fresh;
  take_turns();
  world.switching = 1;
  world.costs["alpha"]["On"] = 10;
  world.costs["beta"]["On"] = 1;
  PlanExecutor executor = executor_of(timed::chain({"Up", "Up", "On", "Over", "Up", "Up"}));
  (void)executor.inference(fed());
  CHECK(frameworks_of(framework_selection(executor)) ==
        Names{"alpha", "alpha", "beta", "beta", "alpha", "alpha"});
}

TEST_CASE("training counts forward and backward together, and leaves gradients as they were") {
  const timed::Fresh fresh;
  world.costs["alpha"] = {{"Up", 1}, {"Up'", 5}};
  world.costs["beta"] = {{"Up", 2}, {"Up'", 1}};
  Network network = timed::trained();
  PlanExecutor executor = executor_of(network);
  network.parameters().front().gradient.data<float>()[0] = 7;
  executor.plan({}, "loss");
  CHECK(network.parameters().front().gradient.item<float>() == 7);
  CHECK(frameworks_of(framework_selection(executor)) == Names{"beta"});
  (void)executor.inference_and_backprop({}, "loss");
  CHECK(network.parameters().front().gradient.item<float>() == 1);
  (void)executor.inference({});
  CHECK(frameworks_of(framework_selection(executor)) == Names{"alpha"});
}

TEST_CASE("a choice is kept for the same network, shapes and pass") {
  const timed::Fresh fresh;
  take_turns();
  const Network network = timed::chain();
  PlanExecutor first = executor_of(network);
  const FrameworkSelection measured = chosen_for(first);
  CHECK_FALSE(measured.kept);

  PlanExecutor second = executor_of(network);
  const int before = world.runs;
  second.plan(fed(), "");
  CHECK(world.runs == before);
  const FrameworkSelection kept = framework_selection(second);
  CHECK(kept.kept);
  CHECK(kept.chosen == measured.chosen);
  CHECK(frameworks_of(kept) == frameworks_of(measured));
  CHECK(kept.nodes.at(1).ratio.ratio == measured.nodes.at(1).ratio.ratio);
  CHECK(planned_steps(second).at(1).framework == "beta");

  SECTION("other shapes are measured") {
    second.plan(fed(5), "");
    CHECK_FALSE(framework_selection(second).kept);
  }
  SECTION("another network is measured") {
    PlanExecutor other = executor_of(timed::chain({"Up", "Over", "Over"}));
    other.plan(fed(), "");
    CHECK_FALSE(framework_selection(other).kept);
  }
  SECTION("a choice that was forgotten is measured") {
    CHECK(forget_selections(timed::chain({"Up"})) == 0);
    CHECK(forget_selections(network) == 1);
    PlanExecutor third = executor_of(network);
    third.plan(fed(), "");
    CHECK_FALSE(framework_selection(third).kept);
  }
  SECTION("a file that is damaged is measured again, and says so") {
    for (const auto& entry : std::filesystem::directory_iterator(fresh.folder())) {
      write_file(entry.path().string(), GENERATE("", "{", "{\"format\": \"else\"}", "[1, 2]"));
    }
    PlanExecutor third = executor_of(network);
    third.plan(fed(), "");
    const FrameworkSelection again = framework_selection(third);
    CHECK_FALSE(again.kept);
    REQUIRE(again.notes.size() == 1);
    CHECK_THAT(again.notes.front(), Contains("measured anew"));
    PlanExecutor fourth = executor_of(network);
    fourth.plan(fed(), "");
    CHECK(framework_selection(fourth).kept);
  }
}

TEST_CASE(
    "a kernel that fails or computes something else is refused and named; its framework stays") {
  const timed::Fresh fresh;
  take_turns();
  world.costs["beta"] = {{"Up", 1}, {"Over", 1}};
  const std::string fault = GENERATE("throws", "nan", "wrong");
  CAPTURE(fault);
  world.faults["beta Over"] = fault;
  PlanExecutor executor = executor_of(timed::chain());
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(frameworks_of(selection) == Names{"beta", "alpha", "beta"});
  REQUIRE(selection.refusals.size() == 1);
  CHECK(selection.refusals.front().framework == "beta");
  CHECK_THAT(selection.refusals.front().reason, Contains("Over") || Contains("out of order"));
}

TEST_CASE("what a kernel writes is judged where somebody reads it") {
  const timed::Fresh fresh;
  take_turns();
  world.faults["beta Over"] = "wrong beside";
  const bool is_read = GENERATE(false, true);
  Network network("beside");
  network.add_input("x", DType::float32, {4});
  timed::add_operator(network, "Up", "x", {"a"});
  timed::add_operator(network, "Over", "a", {"b", "beside"});
  timed::add_operator(network, "Up", "b", {"y"});
  network.add_output("y");
  if (is_read) network.add_output("beside");
  PlanExecutor executor = executor_of(network);
  const FrameworkSelection selection = chosen_for(executor);
  CHECK(selection.refusals.empty() != is_read);
  CHECK(frameworks_of(selection) == Names{"alpha", is_read ? "alpha" : "beta", "alpha"});
}

TEST_CASE("a kernel that changes what it reads is refused, and what it changed is put back") {
  const timed::Fresh fresh;
  take_turns();
  world.costs["beta"] = {{"Up", 1}, {"Over", 5}};
  world.faults["beta Up"] = "changes";
  PlanExecutor executor = executor_of(timed::chain());
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
  const timed::Fresh fresh;
  take_turns();
  world.arranging = {"beta"};
  world.reordering = 0.25;
  PlanExecutor executor = executor_of(timed::chain({"Up", "Over", "Up", "Over", "Up", "Over"}));
  const ValueMap inputs = fed();
  CHECK(executor.inference(inputs).at("y").tensor().span<float>()[0] == 6);
  CHECK(framework_selection(executor).refusals.empty());
}

TEST_CASE("so is one that changes a parameter, or a gradient that others read") {
  const timed::Fresh fresh;
  world.costs["beta"] = {{"Up", 0.5}, {"Up'", 0.5}};
  world.faults["beta Up"] = GENERATE("changes", "changes back");
  Network network = timed::trained();
  PlanExecutor executor = executor_of(network);
  CHECK(executor.inference_and_backprop({}, "loss").at("loss").tensor().item<float>() == 3);
  CHECK(network.fetch("w").item<float>() == 2);
  CHECK(network.parameters().front().gradient.item<float>() == 1);
  CHECK(frameworks_of(framework_selection(executor)) == Names{"alpha"});
}

TEST_CASE("frameworks asked for by name come before what is measured") {
  const timed::Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(timed::chain(), {.frameworks = {"beta", "auto"}});
  (void)chosen_for(executor);
  for (const StepInfo& step : planned_steps(executor)) CHECK(step.framework == "beta");
  PlanExecutor placed = executor_of(
      timed::chain(), {.frameworks = {"auto"}, .placement = {{"timed.Over", "alpha+slow"}}});
  (void)chosen_for(placed);
  CHECK(planned_steps(placed).at(1).framework == "alpha");
}

TEST_CASE("measuring ends within a run of the network of the wish, and the next run is whole") {
  const timed::Fresh fresh;
  const Network network = timed::chain();
  bool ended = true;
  for (int runs = 0; ended; ++runs) {  // of kernels, before somebody wishes it
    world = {};
    take_turns();
    (void)forget_selections(network);
    PlanExecutor executor = executor_of(network);
    ended = false;
    try {
      const InterruptibleRuns interruptible(executor,
                                            {.wished = [&] { return world.runs >= runs; }});
      (void)executor.inference(fed());
      CHECK(world.runs <= runs);
    } catch (const Interrupted&) {
      ended = true;
      REQUIRE(world.runs <= runs + 3);
      if (runs % 50 == 0) CHECK(chosen_for(executor).chosen == "mixture");
    }
  }
}

TEST_CASE("the choice is told as tables") {
  const timed::Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(timed::chain());
  const FrameworkSelection selection = chosen_for(executor);
  const TextTable nodes = to_table(selection, Format::table);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes.rows().at(1).at(2) == "beta");
  CHECK_THAT(nodes.rows().at(1).at(5), Contains("1.5 [1.5, 1.5]"));
  const auto plain_row = to_table(selection, Format::csv).rows().at(1);
  CHECK(std::vector(plain_row.begin() + 4, plain_row.end()) == Names{"alpha", "1.5", "1.5", "1.5"});
  CHECK(summary_table(selection, Format::csv).rows().front().at(1) == "mixture");
  const auto plain = make_executor(timed::chain(), {.frameworks = {"alpha", "slow"}});
  (void)plain->inference(fed());
  CHECK(framework_selection(*plain).chosen.empty());
}

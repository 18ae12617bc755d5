// SPDX-License-Identifier: Apache-2.0
// The choice of "auto" for known costs.
#include "d5/level1_network/mixture/framework_selection.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "tests/level1_network/timed_choices.hpp"

using namespace d5;
using namespace timed;
using Catch::Contains;
using Names = std::vector<std::string>;

TEST_CASE("each node runs where it is fastest if nothing stands against it") {
  const Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(chain());
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
  // The way that is chosen for the whole stands in the other table.
  CHECK_THAT(to_table(selection, Format::table).to_text(Format::table),
             Contains("in d5's plan") && Contains("runner-up/plan") && !Contains("chosen"));
  CHECK_THAT(to_table(selection, Format::csv).to_text(Format::csv), Contains("operator,chosen,"));
}

TEST_CASE("what is fastest node by node is not chosen where reorders cost more than it saves") {
  const Fresh fresh;
  take_turns();
  world.arranging = {"beta"};
  world.reordering = GENERATE(5.0, 0.25);
  PlanExecutor executor = executor_of(chain());
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
  const Fresh fresh;
  take_turns();
  world.switching = 4;
  PlanExecutor executor = executor_of(chain());
  CHECK(frameworks_of(chosen_for(executor)) == Names{"alpha", "alpha", "alpha"});
}

TEST_CASE("a stretch that one framework runs much faster is worth two changes") {
  const Fresh fresh;
  take_turns();
  world.switching = 1;
  world.costs["alpha"]["On"] = 10;
  world.costs["beta"]["On"] = 1;
  PlanExecutor executor = executor_of(chain({"Up", "Up", "On", "Over", "Up", "Up"}));
  (void)executor.inference(fed());
  CHECK(frameworks_of(framework_selection(executor)) ==
        Names{"alpha", "alpha", "beta", "beta", "alpha", "alpha"});
}

TEST_CASE("training counts forward and backward together, and leaves gradients as they were") {
  const Fresh fresh;
  world.costs["alpha"] = {{"Up", 1}, {"Up'", 5}};
  world.costs["beta"] = {{"Up", 2}, {"Up'", 1}};
  Network network = trained();
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
  const Fresh fresh;
  take_turns();
  const Network network = chain();
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
    PlanExecutor other = executor_of(chain({"Up", "Over", "Over"}));
    other.plan(fed(), "");
    CHECK_FALSE(framework_selection(other).kept);
  }
  SECTION("a choice that was forgotten is measured") {
    CHECK(forget_selections(chain({"Up"})) == 0);
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
    CHECK_THAT(again.notes.front(), Contains("measured again"));
    PlanExecutor fourth = executor_of(network);
    fourth.plan(fed(), "");
    CHECK(framework_selection(fourth).kept);
  }
}

TEST_CASE("a choice that other work disturbed holds while that goes on, and is made again after") {
  const Fresh fresh;
  const Network network = chain();
  const auto all_in = [&](const std::string& fastest) {
    for (const char* name : {"alpha", "beta"}) {
      const double seconds = name == fastest ? 1 : 3;
      world.costs[name] = {{"Up", seconds}, {"Over", seconds}};
    }
    PlanExecutor executor = executor_of(network);
    executor.plan(fed(), "");
    return framework_selection(executor);
  };
  constexpr double kBusy = 1000;  // processors, more than any machine has
  world.others = kBusy;
  const FrameworkSelection first = all_in("alpha");
  CHECK(first.chosen == "alpha");
  REQUIRE(first.notes.size() == 1);
  CHECK_THAT(first.notes.front(),
             Contains("chosen while other work kept 1000") && Contains("measured again"));

  const FrameworkSelection beside = all_in("beta");
  CHECK(beside.kept);
  CHECK(beside.chosen == "alpha");
  CHECK(beside.notes == first.notes);

  world.others = 0;
  const FrameworkSelection second = all_in("beta");
  CHECK_FALSE(second.kept);
  CHECK(second.chosen == "beta");
  CHECK(second.notes.empty());
  CHECK(all_in("alpha").kept);
}

TEST_CASE("the third choice stays if each measuring is disturbed") {
  const Fresh fresh;
  // Other work that waits until it is measured: what looks for 0.15 s does not see it.
  int watches = 0;
  const auto executor_beside = [&](bool waits) {
    PlanExecutor executor(
        chain(), {.frameworks = {"auto"}},
        {.clock = timed::clock, .most_seconds = 1e9, .watch_others = [&watches, waits] {
           const bool looks = waits && watches++ % 2 == 0;
           return [looks] { return looks ? 0.0 : 1000.0; };
         }});
    executor.plan(fed(), "");
    return framework_selection(executor);
  };
  take_turns();
  use_frameworks();
  CHECK_FALSE(executor_beside(false).kept);
  CHECK_FALSE(executor_beside(true).kept);
  const FrameworkSelection third = executor_beside(true);
  CHECK_FALSE(third.kept);
  REQUIRE(third.notes.size() == 1);
  CHECK_THAT(third.notes.front(), Contains("--remeasure"));
  const FrameworkSelection stays = executor_beside(true);
  CHECK(stays.kept);
  CHECK(stays.notes == third.notes);
}

TEST_CASE("frameworks asked for by name come before what is measured") {
  const Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(chain(), {.frameworks = {"beta", "auto"}});
  (void)chosen_for(executor);
  for (const StepInfo& step : planned_steps(executor)) CHECK(step.framework == "beta");
  PlanExecutor placed =
      executor_of(chain(), {.frameworks = {"auto"}, .placement = {{"timed.Over", "alpha+slow"}}});
  (void)chosen_for(placed);
  CHECK(planned_steps(placed).at(1).framework == "alpha");
}

TEST_CASE("measuring ends within a run of the network of the wish, and the next run is whole") {
  const Fresh fresh;
  const Network network = chain();
  bool ended = true;
  for (int runs = 0; ended; ++runs) {  // kernels run before the interrupt
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

TEST_CASE("the choice is printed as tables") {
  const Fresh fresh;
  take_turns();
  PlanExecutor executor = executor_of(chain());
  const FrameworkSelection selection = chosen_for(executor);
  const TextTable nodes = to_table(selection, Format::table);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes.rows().at(1).at(2) == "beta");
  CHECK_THAT(nodes.rows().at(1).at(5), Contains("1.5 [1.5, 1.5]"));
  const auto plain_row = to_table(selection, Format::csv).rows().at(1);
  CHECK(std::vector(plain_row.begin() + 4, plain_row.end()) == Names{"alpha", "1.5", "1.5", "1.5"});
  CHECK(summary_table(selection, Format::csv).rows().front().at(1) == "mixture");
  const auto plain = make_executor(chain(), {.frameworks = {"alpha", "slow"}});
  (void)plain->inference(fed());
  CHECK(framework_selection(*plain).chosen.empty());
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planning_report.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

TEST_CASE("every built-in network takes at most 1.05 times the least that any plan could") {
  for (const std::string& name : models().names()) {
    for (const bool training : {false, true}) {
      const auto executor =
          make_executor(models().at(name).make({{"with_loss", training}, {"training", training}}));
      for (const std::int64_t batch : {1, 16}) {
        INFO(name << (training ? " training" : " inference") << " of a batch of " << batch);
        const ValueMap inputs = random_inputs(executor->network(), {.batch = batch});
        const PlannedMemory memory = plan_memory(*executor, inputs, training ? "loss" : "");
        const PlanningReport report = planning_report(memory);
        CHECK(memory.bytes() == report.placements.back().bytes);
        CHECK(memory.bytes() >= report.bound);
        CHECK(double(memory.bytes()) <= 1.05 * double(report.bound));
      }
    }
  }
}

TEST_CASE("a table has a row for inference and one for training") {
  const TextTable table = planning_table("lenet", "reference", {.batch = 4});
  REQUIRE(table.size() == 2);
  CHECK(table.rows()[0][2] == "inference");
  CHECK(table.rows()[1][2] == "training");
  CHECK(std::stoul(table.rows()[1][4]) > std::stoul(table.rows()[0][4]));
}

TEST_CASE("planning takes no memory: what no machine has can be planned") {
  const std::size_t budget = memory_budget();
  set_memory_budget(std::size_t{1} << 50);
  const auto executor = make_executor(models().at("lenet").make({}));
  Tensor none = Tensor::borrow({DType::float32, {1 << 28, 1, 28, 28}}, nullptr);
  const PlannedMemory memory = plan_memory(*executor, {{"image", none}});
  CHECK(memory.bytes() > std::size_t{1} << 40);
  set_memory_budget(budget);
}

TEST_CASE("what an executor plans that is not d5's own is unsupported") {
  test::ScriptedExecutor other({{"w", Tensor::scalar(0.0F)}},
                               [](Network&, std::int64_t) { return 0.0; });
  CHECK_THROWS_AS(plan_memory(other, {}), Unsupported);
}

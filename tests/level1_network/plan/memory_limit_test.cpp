// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// Each step reads and writes 256 float32: no plan needs less than 2 KiB.
Network chain() {
  Network network("chain");
  network.add_input("x", DType::float32, {256});
  network.add_node("Softmax", {"x"}, {"a"}, {}, "first");
  network.add_node("Softmax", {"a"}, {"b"}, {}, "second");
  network.add_node("Softmax", {"b"}, {"y"}, {}, "third");
  network.add_output("y");
  return network;
}

ValueMap inputs() { return {{"x", Tensor::zeros(DType::float32, {256})}}; }

}  // namespace

TEST_CASE("a plan within the memory limit runs, one above it is refused") {
  const auto within = make_executor(chain(), {.memory_limit = 2048});
  CHECK(within->inference(inputs()).size() == 1);
  CHECK(planned_memory(*within).bytes() == 2048);
  const auto above = make_executor(chain(), {.memory_limit = 2047});
  CHECK_THROWS_AS(above->plan(inputs()), MemoryError);
  CHECK_THROWS_WITH(above->plan(inputs()), Contains("'chain' needs 2 KiB (2048 bytes) on cpu") &&
                                               Contains("limit of 1.999 KiB (2047 bytes)") &&
                                               Contains("at least 2 KiB (2048 bytes)") &&
                                               Contains("step 'second'") &&
                                               Contains("smaller batch") && !Contains("recompute"));
}

TEST_CASE("the memory budget holds for every plan, whatever the limit") {
  const std::size_t budget = memory_budget();
  set_memory_budget(1500);
  const auto executor = make_executor(chain(), {.memory_limit = 4096});
  CHECK_THROWS_WITH(executor->plan(inputs()), Contains("budget of 1.465 KiB (1500 bytes)"));
  set_memory_budget(budget);
}

TEST_CASE("what steps allocate while they run counts on top of the plan") {
  Network network("dynamic");
  network.add_input("x", DType::float32, {256});
  network.add_node("Softmax", {"x"}, {"a"});
  network.add_node("NonZero", {"a"}, {"places"});  // 1x256 int64: 2 KiB beside 1 KiB
  network.add_output("places");
  CHECK(make_executor(network, {.memory_limit = 3072})->inference(inputs()).size() == 1);
  const auto above = make_executor(network, {.memory_limit = 3071});
  CHECK_THROWS_AS(above->inference(inputs()), MemoryError);
  CHECK_THROWS_WITH(above->inference(inputs()), Contains("1024 planned"));
}

TEST_CASE("an executor that plans no memory takes no limit") {
  CHECK_THROWS_AS(open_executor("reference:own", chain(), {.memory_limit = 2048}), Unsupported);
}

TEST_CASE("a record tells the limit as the command line reads it") {
  const ExecutorOptions options{.memory_limit = 536870912, .recompute = {"conv1", "conv2"}};
  CHECK(execution_line(options) == " --memory 512MiB --recompute conv1,conv2");
  CHECK(execution_line({}).empty());
  Measurement record;
  note_execution(record, options);
  CHECK(record.conditions.at("memory limit") == "512MiB");
  CHECK(record.conditions.at("recompute") == "conv1,conv2");
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planned_memory.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/core/svg_texts.hpp"

using namespace d5;
using Kind = PlannedMemory::Kind;

namespace {

/// Three steps, each of which reads what the one before it wrote.
Network planned_chain() {
  Network network("chain");
  network.add_input("x", DType::float32, {std::int64_t{256}});
  network.add_node("Softmax", {"x"}, {"s"}, {}, "first");
  network.add_node("Softmax", {"s"}, {"t"}, {}, "second");
  network.add_node("Softmax", {"t"}, {"y"}, {}, "third");
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("before its first run an executor has planned nothing") {
  CHECK(planned_memory(*make_executor(planned_chain())).blocks.empty());
}

TEST_CASE("the plan of the last run has names, steps and bytes") {
  const auto executor = make_executor(planned_chain());
  (void)executor->inference(random_inputs(executor->network()));
  const PlannedMemory memory = planned_memory(*executor);
  CHECK(memory.steps == std::vector<std::string>{"first", "second", "third"});
  const auto s = std::ranges::find_if(
      memory.blocks, [](const auto& block) { return block.name.starts_with("s"); });
  REQUIRE(s != memory.blocks.end());
  CHECK(s->kind == Kind::value);
  CHECK(s->bytes == 256 * sizeof(float));
  CHECK(s->begin == 0);
  CHECK(s->end >= 1);
  CHECK(s->end <= 2);
}

TEST_CASE("blocks that live at the same time do not overlap, in training too") {
  const auto executor = make_executor(models().at("lenet").make({{"with_loss", true}}));
  (void)executor->inference_and_backprop(random_inputs(executor->network(), {.batch = 2}), "loss");
  const PlannedMemory memory = planned_memory(*executor);
  REQUIRE(memory.blocks.size() > 10);
  for (const auto& a : memory.blocks) {
    CHECK_FALSE(a.name.empty());
    CHECK(a.end < memory.steps.size());
    for (const auto& b : memory.blocks) {
      const bool together = &a != &b && a.begin <= b.end && b.begin <= a.end;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      INFO(a.name << " and " << b.name);
      CHECK_FALSE((together && overlap));
    }
  }
  CHECK(std::ranges::any_of(memory.blocks,
                            [](const auto& block) { return block.kind == Kind::gradient; }));
  const auto plots = memory_plots(memory);
  REQUIRE(plots.size() == 1);
  CHECK(plots.front().marks.size() == memory.blocks.size());
  CHECK(std::ranges::find(plots.front().series, "gradients") != plots.front().series.end());
  CHECK(testing::faults_of_texts(plots.front()) == "");
}

TEST_CASE("what is planned and not run has a memory plan; its legend names what is in it") {
  const auto executor = make_executor(models().at("lenet").make({{"with_loss", true}}));
  const ValueMap inputs = random_inputs(executor->network(), {.batch = 2});
  executor->plan(inputs);
  const PlannedMemory memory = planned_memory(*executor);
  REQUIRE_FALSE(memory.blocks.empty());
  const Plot plot = memory_plots(memory).front();
  CHECK(std::ranges::find(plot.series, "values") != plot.series.end());
  CHECK(std::ranges::find(plot.series, "gradients") == plot.series.end());
  for (const auto& mark : plot.marks) CHECK(mark.series < plot.series.size());
  executor->plan(inputs, "loss");
  CHECK(planned_memory(*executor).blocks.size() > memory.blocks.size());
}

TEST_CASE("a product keeps for backward only what the wanted gradients read") {
  Network network("scaled");
  network.add_input("x", DType::float32, {2});
  network.add_parameter("w", Tensor::of<float>({2}, {3, 5}));
  network.add_constant("c", Tensor::of<float>({2}, {10, 100}));
  network.add_node("Mul", {"x", "w"}, {"u"});
  network.add_node("Mul", {"u", "c"}, {"v"});
  network.add_node("ReduceSum", {"v"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const auto executor = make_executor(network);
  (void)executor->inference_and_backprop({{"x", Tensor::of<float>({2}, {1, 2})}}, "loss");
  const auto gradient = executor->network().parameter("w").gradient.span<float>();
  CHECK(std::vector(gradient.begin(), gradient.end()) == std::vector<float>{10, 200});  // x c
  for (const auto& block : planned_memory(*executor).blocks) {
    if (block.kind == Kind::value && block.name.starts_with("u")) CHECK(block.end <= 2);
  }
}

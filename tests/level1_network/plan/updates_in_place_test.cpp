// SPDX-License-Identifier: Apache-2.0
// Constants that runs update in their own memory: when, and that no run can tell.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kTexts = 2, kRows = 6, kSize = 3;

/// TensorScatter is of opset 24, which is above that of a network made by code.
Network of_opset_24(const std::string& name) {
  onnx::Model model;
  model.graph.name = name;
  model.opset_imports[""] = 24;
  return Network(std::move(model));
}

onnx::Node node_of(const std::string& op_type, const std::string& name, const std::string& input,
                   const std::string& output) {
  onnx::Node node;
  node.name = name;
  node.op_type = op_type;
  node.opset = 24;
  node.inputs = {input};
  node.outputs = {output};
  return node;
}

/// present = past with `new` written from `starts` on; y = 2 present. past takes over present.
Network cached() {
  Network network = of_opset_24("cached");
  network.add_input("new", DType::float32, {kTexts, "T", kSize});
  network.add_input("starts", DType::int64, {kTexts});
  network.add_constant("past", Tensor::zeros(DType::float32, {kTexts, kRows, kSize}));
  network.add_constant("two", Tensor::scalar(2.0F));
  network.add_node("TensorScatter", {"past", "new", "starts"}, {"present"},
                   {{"axis", std::int64_t{1}}}, "write");
  network.add_node("Mul", {"present", "two"}, {"y"}, {}, "double");
  network.add_output("y");
  network.add_update("past", "present");
  return network;
}

ValueMap step_of(std::int64_t first, std::int64_t second, float value, std::int64_t count = 1) {
  Tensor rows = Tensor::empty(DType::float32, {kTexts, count, kSize});
  for (float& element : rows.span<float>()) element = value++;
  return {{"new", rows}, {"starts", Tensor::vector<std::int64_t>({first, second})}};
}

std::vector<float> cache_numbers(const Tensor& tensor) {
  return {tensor.span<float>().begin(), tensor.span<float>().end()};
}

PlannedUpdate only_update(const GraphExecutor& executor) {
  const auto updates = planned_updates(executor);
  REQUIRE(updates.size() == 1);
  return updates.front();
}

/// Runs a copy of the network with updates in place and one with copies, through the same steps.
/// Outputs and constants agree to the bit after each. Returns the first one's update.
PlannedUpdate run_both(const Network& network, const std::vector<ValueMap>& steps) {
  const auto in_place = make_executor(network.copy());
  const auto copied = make_executor(network.copy(), {}, UpdatePlace::copied);
  for (const ValueMap& inputs : steps) {
    const ValueMap& got = in_place->inference(inputs);
    for (const auto& [name, value] : copied->inference(inputs)) {
      CHECK(cache_numbers(got.at(name).tensor()) == cache_numbers(value.tensor()));
    }
    for (const auto& [constant, output] : network.updates()) {
      CHECK(cache_numbers(in_place->network().fetch(constant)) ==
            cache_numbers(copied->network().fetch(constant)));
    }
  }
  for (const PlannedUpdate& update : planned_updates(*copied)) CHECK(update.copied_bytes > 0);
  return planned_updates(*in_place).front();
}

std::vector<ValueMap> some_steps() {
  return {step_of(0, 0, 1, 2), step_of(2, 1, 20), step_of(3, 2, 30), step_of(1, 5, 40),
          step_of(0, 3, 50, 3)};
}

std::string reason_of(const Network& network) {
  const PlannedUpdate update = run_both(network, some_steps());
  CHECK(update.copied_bytes == kTexts * kRows * kSize * sizeof(float));
  return update.reason;
}

}  // namespace

TEST_CASE("a cache that a scatter alone reads is updated in place, step by step as with copies") {
  const PlannedUpdate update = run_both(cached(), some_steps());
  CHECK(update.reason.empty());
  CHECK(update.copied_bytes == 0);
  CHECK(update.constant == "past");
  CHECK(update.output == "present");
}

TEST_CASE("a step in place writes new rows alone, and copies no byte of the cache") {
  // A cache of whole pages, all but the written one read-only: any other write ends the process.
  const auto page = std::size_t(sysconf(_SC_PAGESIZE));
  constexpr std::size_t kPages = 4;
  void* memory =
      mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const auto floats = std::int64_t(page / sizeof(float));
  {
    Network network = of_opset_24("paged");
    network.add_input("new", DType::float32, {1, 1, floats});
    network.add_input("starts", DType::int64, {1});
    network.add_constant(
        "past", Tensor::borrow({DType::float32, {1, std::int64_t(kPages), floats}}, memory));
    network.add_node("TensorScatter", {"past", "new", "starts"}, {"present"},
                     {{"axis", std::int64_t{1}}});
    network.add_node("ReduceSum", {"present"}, {"y"}, {{"keepdims", std::int64_t{0}}});
    network.add_output("y");
    network.add_update("past", "present");
    const auto executor = make_executor(network);
    Tensor row = Tensor::zeros(DType::float32, {1, 1, floats});
    for (std::size_t i = 0; i < kPages; ++i) {
      REQUIRE(mprotect(memory, kPages * page, PROT_READ) == 0);
      REQUIRE(mprotect(static_cast<std::byte*>(memory) + i * page, page, PROT_READ | PROT_WRITE) ==
              0);
      std::ranges::fill(row.span<float>(), float(i + 1));
      const ValueMap& outputs = executor->inference(
          {{"new", row}, {"starts", Tensor::vector<std::int64_t>({std::int64_t(i)})}});
      CHECK(outputs.at("y").tensor().item<float>() == float(floats) * float((i + 1) * (i + 2) / 2));
    }
    CHECK(only_update(*executor).copied_bytes == 0);
  }
  munmap(memory, kPages * page);
}

TEST_CASE("a plan without copies needs no memory for the new cache") {
  const auto bytes = [](UpdatePlace place) {
    const auto executor = make_executor(cached(), {}, place);
    executor->plan(step_of(0, 0, 1));
    std::size_t sum = 0;
    for (const auto& block : planned_memory(*executor).blocks) {
      if (block.name.find("present") != std::string::npos) sum += block.bytes;
    }
    return sum;
  };
  CHECK(bytes(UpdatePlace::copied) == kTexts * kRows * kSize * sizeof(float));
  CHECK(bytes(UpdatePlace::constant) == 0);
}

TEST_CASE("a caller can ask for copies, and sees them in the plan") {
  const auto executor = make_executor(cached(), {}, UpdatePlace::copied);
  (void)executor->inference(step_of(0, 0, 1));
  const PlannedUpdate update = only_update(*executor);
  CHECK(update.copied_bytes == kTexts * kRows * kSize * sizeof(float));
  CHECK(update.reason == "the executor copies updates");
  CHECK(planned_updates(*make_executor(cached())).empty());  // nothing ran
  CHECK_THROWS_AS(make_executor(cached(), {.frameworks = {"auto"}}, UpdatePlace::constant),
                  Unsupported);
}

TEST_CASE("whatever else reads the old value keeps the update a copy") {
  SECTION("a node before the scatter") {
    Network network = cached();
    network.splice({.nodes = {node_of("Neg", "before", "past", "z")}});
    network.add_output("z");
    CHECK_THAT(reason_of(network), Catch::Contains("Neg 'before' reads 'past'"));
  }
  SECTION("a node after the scatter") {
    Network network = cached();
    network.add_node("Sub", {"y", "past"}, {"z"}, {}, "after");
    network.add_output("z");
    CHECK_THAT(reason_of(network), Catch::Contains("Sub 'after' reads 'past'"));
  }
  SECTION("a graph that a node holds") {
    Network network = cached();
    const auto branch = [](const char* op) {
      auto graph = std::make_shared<onnx::Graph>();
      graph->name = op;
      graph->nodes = {node_of(op, op, "past", std::string(op) + ".out")};
      graph->outputs = {{std::string(op) + ".out", {}}};
      return std::shared_ptr<const onnx::Graph>(graph);
    };
    network.add_input("which", DType::boolean, {});
    network.add_node("If", {"which"}, {"z"},
                     {{"then_branch", branch("Neg")}, {"else_branch", branch("Abs")}}, "choice");
    network.add_output("z");
    auto steps = some_steps();
    for (ValueMap& inputs : steps) inputs.emplace("which", Tensor::scalar(true));
    CHECK_THAT(run_both(network, steps).reason, Catch::Contains("If 'choice' reads 'past'"));
  }
  SECTION("an output of the network") {
    Network network = cached();
    network.add_output("present");
    CHECK_THAT(reason_of(network), Catch::Contains("output of the network"));
  }
  SECTION("another update") {
    Network network = cached();
    network.add_constant("before", Tensor::zeros(DType::float32, {kTexts, kRows, kSize}));
    network.add_update("before", "past");
    const auto executor = make_executor(network);
    (void)executor->inference(step_of(0, 0, 1));
    for (const PlannedUpdate& update : planned_updates(*executor)) {
      CHECK_FALSE(update.reason.empty());
    }
  }
}

TEST_CASE("a tensor with the same memory keeps the update a copy") {
  Network network = cached();
  network.add_constant("twin", network.fetch("past"));
  network.add_node("Add", {"y", "twin"}, {"z"});
  network.add_output("z");
  const auto executor = make_executor(network);
  (void)executor->inference(step_of(0, 0, 1));
  CHECK_THAT(only_update(*executor).reason, Catch::Contains("'twin'"));
}

TEST_CASE("a scatter into another cache, or another operator, is a copy") {
  SECTION("two caches that change places") {
    Network network = of_opset_24("crossed");
    network.add_input("new", DType::float32, {kTexts, "T", kSize});
    network.add_input("starts", DType::int64, {kTexts});
    for (const char* cache : {"a", "b"}) {
      network.add_constant(cache, Tensor::zeros(DType::float32, {kTexts, kRows, kSize}));
      network.add_node("TensorScatter", {cache, "new", "starts"}, {std::string(cache) + "2"},
                       {{"axis", std::int64_t{1}}});
    }
    network.add_node("Sub", {"a2", "b2"}, {"y"});
    network.add_output("y");
    network.add_update("a", "b2");
    network.add_update("b", "a2");
    CHECK_THAT(reason_of(network), Catch::Contains("does not read 'a' as its cache"));
  }
  SECTION("a sum") {
    Network network("count");
    network.add_constant("count", Tensor::vector<float>({0}));
    network.add_constant("one", Tensor::vector<float>({1}));
    network.add_node("Add", {"count", "one"}, {"next"});
    network.add_node("Neg", {"next"}, {"y"});
    network.add_output("y");
    network.add_update("count", "next");
    CHECK_THAT(run_both(network, {{}, {}, {}}).reason, Catch::Contains("TensorScatter"));
  }
}

TEST_CASE("a run with a backward pass copies") {
  Network network = cached();
  network.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const auto executor = make_executor(network, {.gradients = {"past"}});
  (void)executor->inference_and_backprop(step_of(1, 2, 3), "loss");
  CHECK_THAT(only_update(*executor).reason, Catch::Contains("backward"));
}

TEST_CASE("an input that is the cache itself is read as it was before the run") {
  Network network = cached();
  network.add_input("x", DType::float32, {kTexts, kRows, kSize});
  network.add_node("Sub", {"y", "x"}, {"z"});
  network.add_output("z");
  const auto executor = make_executor(network);
  ValueMap inputs = step_of(0, 0, 1);
  inputs.emplace("x", network.fetch("past"));
  const Tensor z = executor->inference(inputs).at("z").tensor();
  CHECK(only_update(*executor).reason.empty());
  CHECK(z.span<float>()[0] == 2);  // 2 * 1 - 0
}

namespace {

/// Ends or interrupts runs after the node "write".
class EndAfterWrite final : public ExecutionEvent {
 public:
  explicit EndAfterWrite(GraphExecutor& executor) : executor_(executor) {}
  void after_node(const StepInfo& step) override {
    if (step.node.name != "write") return;
    if (throws) throw Interrupted("test");
    if (ends) executor_.end_run();
  }
  bool ends = false, throws = false;

 private:
  GraphExecutor& executor_;
};

}  // namespace

TEST_CASE("a run that an observer ends leaves the cache as it was") {
  const auto executor = make_executor(cached());
  const auto observer = std::make_shared<EndAfterWrite>(*executor);
  executor->events().add(observer);
  (void)executor->inference(step_of(0, 0, 1));
  CHECK(only_update(*executor).reason.empty());
  const auto before = cache_numbers(executor->network().fetch("past"));
  observer->ends = true;
  (void)executor->inference(step_of(1, 1, 9));
  CHECK(executor->ended_early());
  CHECK(cache_numbers(executor->network().fetch("past")) == before);
  observer->throws = true;
  CHECK_THROWS_AS(executor->inference(step_of(1, 1, 9)), Interrupted);
  CHECK(cache_numbers(executor->network().fetch("past")) == before);
  observer->ends = observer->throws = false;
  (void)executor->inference(step_of(1, 1, 9));
  CHECK(cache_numbers(executor->network().fetch("past")) != before);
}

TEST_CASE("an index outside the cache is refused, and the step can be run again") {
  const auto executor = make_executor(cached());
  (void)executor->inference(step_of(0, 0, 1));
  CHECK_THROWS_WITH(executor->inference(step_of(1, kRows, 5)), Catch::Contains("expected 0 to 5"));
  (void)executor->inference(step_of(1, 1, 5));
  const auto twin = make_executor(cached(), {}, UpdatePlace::copied);
  (void)twin->inference(step_of(0, 0, 1));
  (void)twin->inference(step_of(1, 1, 5));
  CHECK(cache_numbers(executor->network().fetch("past")) ==
        cache_numbers(twin->network().fetch("past")));
}

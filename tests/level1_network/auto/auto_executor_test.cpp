// SPDX-License-Identifier: Apache-2.0
// "auto" between d5's plan and executors of whole networks.
#include "level1_network/auto/auto_executor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/source/network_inputs.hpp"
#include "d5/onnx/nodes.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/level1_network/timed_frameworks.hpp"

using namespace d5;
using Catch::Contains;
using timed::world;

namespace {

/// The plan takes 6, or more where a test says so.
AutoExecutor executor_of(const Network& network, double whole_seconds) {
  timed::use_frameworks();
  for (const char* op : {"Up", "Over", "On"}) world.costs["slow"][op] = 100;
  world.costs["alpha"] = {{"Up", 2}, {"Over", 3}};
  world.costs["beta"] = {{"Up", 3}, {"Over", 2}};
  world.costs["whole"]["run"] = whole_seconds;
  return AutoExecutor(
      network, {.frameworks = {"auto"}},
      {.clock = timed::clock, .most_seconds = 1e9, .watch_others = timed::watch_others});
}

ValueMap fed(std::int64_t size = 2) { return {{"x", Tensor::zeros(DType::float32, {size})}}; }

float first(const ValueMap& outputs, const char* name = "y") {
  return outputs.at(name).tensor().span<float>()[0];
}

std::string reason_of(const FrameworkSelection& selection, const std::string& framework) {
  for (const auto& refusal : selection.refusals) {
    if (refusal.framework == framework) return refusal.reason;
  }
  return "";
}

class Counter final : public ExecutionEvent {
 public:
  int runs = 0, nodes = 0;
  void before_run(Pass) override { ++runs; }
  void before_node(const StepInfo&) override { ++nodes; }
};

}  // namespace

TEST_CASE("an executor of whole networks runs where it is the fastest, and is observed") {
  const timed::Fresh fresh;
  AutoExecutor executor = executor_of(timed::chain(), 3);
  const auto counter = std::make_shared<Counter>();
  executor.events().add(counter);
  CHECK(first(executor.inference(fed())) == 3);
  CHECK(counter->runs == 1);  // those of measuring are nobody's business
  CHECK(counter->nodes == 3);
  const FrameworkSelection selection = framework_selection(executor);
  CHECK(selection.chosen == "alpha:whole");
  REQUIRE(selection.ways.size() == 2);
  CHECK(selection.ways.at(0).seconds == 3);
  CHECK(selection.ways.at(1).name == "mixture");
  CHECK(selection.ways.at(1).ratio.ratio == 2);
  CHECK(planned_steps(executor).empty());

  AutoExecutor second = executor_of(timed::chain(), 100);  // nobody asks how long it takes now
  CHECK(first(second.inference(fed())) == 3);
  CHECK(framework_selection(second).kept);
  CHECK(framework_selection(second).chosen == "alpha:whole");
}

TEST_CASE("the executor of the whole is chosen again if other work disturbed the choice") {
  const timed::Fresh fresh;
  world.others = 1000;
  AutoExecutor first = executor_of(timed::chain(), 3);
  (void)first.inference(fed());
  CHECK(framework_selection(first).chosen == "alpha:whole");
  REQUIRE(framework_selection(first).notes.size() == 1);
  AutoExecutor beside = executor_of(timed::chain(), 100);
  (void)beside.inference(fed());
  CHECK(framework_selection(beside).kept);
  CHECK(framework_selection(beside).notes == framework_selection(first).notes);
  world.others = 0;
  AutoExecutor second = executor_of(timed::chain(), 100);
  (void)second.inference(fed());
  CHECK_FALSE(framework_selection(second).kept);
  CHECK(framework_selection(second).chosen == "mixture");
  CHECK(framework_selection(second).notes.empty());
}

TEST_CASE("the plan runs where nothing is faster") {
  const timed::Fresh fresh;
  AutoExecutor executor = executor_of(timed::chain(), 9);
  CHECK(first(executor.inference(fed())) == 3);
  const FrameworkSelection selection = framework_selection(executor);
  CHECK(selection.chosen == "mixture");
  CHECK(selection.nodes.size() == 3);
  CHECK(planned_steps(executor).size() == 3);
  CHECK(planned_memory(executor).steps.size() == 3);
  CHECK(std::ranges::find(selection.ways, "alpha:whole", &FrameworkSelection::Way::name) !=
        selection.ways.end());
}

TEST_CASE("shapes and passes are chosen for one by one") {
  const timed::Fresh fresh;
  AutoExecutor executor = executor_of(timed::chain(), 3);
  (void)executor.inference(fed(2));
  world.costs["whole"]["run"] = 20;
  (void)executor.inference(fed(5));
  CHECK(framework_selection(executor).chosen == "mixture");
  (void)executor.inference(fed(2));
  CHECK(framework_selection(executor).chosen == "alpha:whole");
  const auto batch = executor.forward(fed(2), {"y"});  // a matter of the plan
  CHECK(first(batch->outputs()) == 3);
}

TEST_CASE("an executor that cannot go back is no candidate for training") {
  const timed::Fresh fresh;
  world.faults["whole"] = "inference alone";
  Network network = timed::trained();
  AutoExecutor executor = executor_of(network, 0.5);
  CHECK(first(executor.inference_and_backprop({}, "loss"), "loss") == 3);
  CHECK(network.parameters().front().gradient.item<float>() == 1);
  CHECK(executor.gradient("w").item<float>() == 1);
  CHECK_THAT(reason_of(framework_selection(executor), "alpha:whole"), Contains("inference alone"));
  CHECK(first(executor.inference({}), "loss") == 3);
  CHECK(framework_selection(executor).chosen == "alpha:whole");
}

TEST_CASE("an executor that computes something else is refused and named") {
  const timed::Fresh fresh;
  world.faults["slow Up"] = "wrong";
  AutoExecutor executor = executor_of(timed::chain(), 1);
  CHECK(first(executor.inference(fed())) == 3);
  CHECK_THAT(reason_of(framework_selection(executor), "alpha:whole"), Contains("output y"));
}

namespace {

/// x, for tanh(x) near 0; no work where it lies there already, so that nobody is faster.
class NearTanh final : public Kernel {
  void forward(OpContext& context) override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    if (y[0] != x[0]) std::copy_n(x, context.input(0).elements(), y);
  }
};

class SteadyTanh final : public Kernel {
  void forward(OpContext& context) override {
    std::ranges::transform(context.input(0).span<float>(), context.output(0).data<float>(),
                           [](float x) { return std::tanh(x); });
  }
};

template <class K>
void add_tanh(const char* name) {
  add_framework(name, "1", [](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel<onnx::nodes::Tanh>(
        [](PlanContext&) { return std::make_unique<K>(); });
  });
}

Network of_tanh() {
  Network network("small");
  network.add_input("x", DType::float32, {"N"});
  network.add_node("Tanh", {"x"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("frameworks are tried one by one if a plan is wrong by less than a tenth") {
  const timed::Fresh fresh;
  add_tanh<NearTanh>("near");
  add_tanh<SteadyTanh>("steady");
  const Network network = of_tanh();
  const SelectionOptions undisturbed{.watch_others = timed::watch_others};
  AutoExecutor executor(network, {.frameworks = {"auto"}}, undisturbed);
  Tensor x = Tensor::zeros(DType::float32, {20000});
  for (float& value : x.span<float>()) value = 0.2F;
  const ValueMap inputs{{"x", x}};
  CHECK(first(executor.inference(inputs)) == Approx(std::tanh(0.2F)));
  const FrameworkSelection selection = framework_selection(executor);
  CHECK_THAT(reason_of(selection, "near"),
             Contains("wrong answers: output y") && Contains("one by one"));
  CHECK_THAT(reason_of(selection, "near+reference"), Contains("wrong answers"));
  CHECK(selection.chosen != "near");
  const bool ran = std::ranges::find(selection.ways, "steady+reference",
                                     &FrameworkSelection::Way::name) != selection.ways.end();
  const std::string slower = reason_of(selection, "steady+reference");
  CHECK((ran || slower.find("times as long") != std::string::npos));

  AutoExecutor second(network, {.frameworks = {"auto"}}, undisturbed);
  CHECK(first(second.inference(inputs)) == Approx(std::tanh(0.2F)));
  CHECK(framework_selection(second).kept);
  CHECK(framework_selection(second).chosen == selection.chosen);
}

TEST_CASE("an executor that changes what it is fed, or a parameter, is refused") {
  const timed::Fresh fresh;
  world.faults["slow Up"] = "changes";
  AutoExecutor executor = executor_of(timed::chain(), 1);
  const ValueMap inputs = fed();
  CHECK(first(executor.inference(inputs)) == 3);
  CHECK(first(inputs, "x") == 0);
  CHECK_THAT(reason_of(framework_selection(executor), "alpha:whole"), Contains("input x"));
  Network network = timed::trained();
  AutoExecutor trained = executor_of(network, 1);
  CHECK(first(trained.inference({}), "loss") == 3);
  CHECK(network.fetch("w").item<float>() == 2);
  CHECK_THAT(reason_of(framework_selection(trained), "alpha:whole"), Contains("changes w"));
}

TEST_CASE("measuring carries out no update, and leaves places in random streams") {
  const timed::Fresh fresh;
  Network network("counting");
  network.add_constant("count", Tensor::of<float>({1}, {0}));
  timed::add_operator(network, "Up", "count", {"y"});
  network.add_output("y");
  network.add_update("count", "y");
  AutoExecutor executor = executor_of(network, GENERATE(0.5, 9.0));
  executor.plan({}, "");
  CHECK(executor.state().at("runs").tensor().item<std::int64_t>() == 0);
  CHECK(first(executor.inference({})) == 1);
  CHECK(first(executor.inference({})) == 2);
  CHECK(network.fetch("count").item<float>() == 2);
  const ValueMap state = executor.state();
  executor.restore(state);
  CHECK(executor.state().size() == state.size());
}

TEST_CASE("what only a plan can do leaves no rivals") {
  timed::use_frameworks();
  CHECK(AutoExecutor::has_rivals({.frameworks = {"auto"}}));
  CHECK_FALSE(AutoExecutor::has_rivals({.frameworks = {"alpha"}}));
  CHECK_FALSE(AutoExecutor::has_rivals({.frameworks = {"alpha", "auto"}}));
  CHECK_FALSE(AutoExecutor::has_rivals({.frameworks = {"auto"}, .placement = {{"Conv", "alpha"}}}));
  CHECK_FALSE(AutoExecutor::has_rivals({.frameworks = {"auto"}, .memory_limit = 1}));
  CHECK_FALSE(AutoExecutor::has_rivals({.frameworks = {"auto"}, .recompute = {"auto"}}));
}

TEST_CASE("\"auto\" refuses who is right on the random inputs that it is fed, and not on others") {
  const timed::Fresh fresh;
  add_framework("sly", "1", [](Framework& framework) {
    framework.part<ExecutorRegistry>().add(
        "wrong",
        {"wrong where its answers begin below zero", [](Network network, const ExecutorOptions&) {
           return std::make_shared<planted::Executor>(std::move(network),
                                                      planted::faults().at("wrong-below-zero")());
         }});
  });
  const std::string fault = "sly:wrong";
  const Network network = of_tanh();
  const auto first_of = [&](std::uint64_t seed) {
    return network_inputs("small", network, {.batch = 3}, {}, seed)
        .values.at("x")
        .tensor()
        .span<float>()[0];
  };
  std::uint64_t seed = 0;  // whose draw hides the fault
  while (first_of(seed) < 0 || first_of(seed + 1) >= 0) ++seed;
  const SelectionOptions undisturbed{.watch_others = timed::watch_others};
  AutoExecutor executor(network, {.frameworks = {"auto"}}, undisturbed);
  const NetworkInputs made = network_inputs("small", executor, {.batch = 3}, {}, seed);
  (void)executor.inference(made.values);
  const FrameworkSelection selection = framework_selection(executor);
  CHECK(selection.draws == 4);
  CHECK_THAT(reason_of(selection, fault),
             Contains("(seed " + std::to_string(seed + 1) + ") wrong answers: output y"));
  CHECK(summary_table(selection, Format::table).to_text(Format::table).find("4 draws") !=
        std::string::npos);
  AutoExecutor second(network, {.frameworks = {"auto"}}, undisturbed);
  (void)second.inference(made.values);
  CHECK(framework_selection(second).kept);
  CHECK(framework_selection(second).notes.empty());
  CHECK(framework_selection(second).draws == 4);

  (void)forget_selections(network);
  AutoExecutor given(network, {.frameworks = {"auto"}}, undisturbed);
  (void)given.inference(network_inputs("small", given, {}, {.values = made.values}).values);
  CHECK(framework_selection(given).draws == 1);
  CHECK_THAT(reason_of(framework_selection(given), fault), !Contains("wrong answers"));
}

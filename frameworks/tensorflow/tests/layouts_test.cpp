// SPDX-License-Identifier: Apache-2.0
// Tests that channels stay last from one TensorFlow kernel to the next.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "d5/level1_network/plan/planned_steps.hpp"
#include "tests/level1_network/layout_networks.hpp"

using namespace d5;
using namespace d5::test;

namespace {

/// "Conv nhwc" for each step of a run, in order; steps before the run begin with "before".
std::vector<std::string> steps_of(const GraphExecutor& executor) {
  std::vector<std::string> steps;
  for (const StepInfo& step : planned_steps(executor)) {
    steps.push_back((step.prepares ? "before " : "") + step.node.op_type + " " +
                    (step.layout.empty() ? "rows" : step.layout));
  }
  return steps;
}

/// Output "y" of `network` in these frameworks, on the input `images`.
Tensor answer(const Network& network, std::vector<std::string> frameworks) {
  const auto executor = make_executor(network.copy(), {.frameworks = std::move(frameworks)});
  (void)executor->inference(fed());
  return executor->inference(fed()).at("y").tensor().copy();
}

}  // namespace

TEST_CASE("channels stay last between TensorFlow's windows; filters are reordered before the run") {
  Network network = images();
  network.add_output("c3");
  const auto executor = make_executor(network, {.frameworks = {"tensorflow"}});
  (void)executor->inference(fed());
  expect_close(executor->inference(fed()).at("c3").tensor(), by_reference(network, "c3"));
  auto steps = steps_of(*executor);
  CHECK(std::erase(steps, "before Reorder hwio") == 3);
  CHECK(steps == std::vector<std::string>{"Conv nhwc", "Relu nhwc", "MaxPool nhwc", "Conv nhwc",
                                          "BatchNormalization nhwc", "Add nhwc", "Concat nhwc",
                                          "Conv nhwc", "Reorder rows"});
}

TEST_CASE("TensorFlow sees filters that were changed in the next run") {
  Network network = images();
  network.add_output("c3");
  const auto executor = make_executor(network, {.frameworks = {"tensorflow"}});
  (void)executor->inference(fed());
  network.feed("c3.w", random_tensor(network.parameter("c3.w").value.shape(), 99));
  expect_close(executor->inference(fed()).at("c3").tensor(), by_reference(network, "c3"));
}

TEST_CASE("a kernel that reads rows finds rows behind TensorFlow's windows") {
  Network network = images();
  network.add_node("Softsign", {"a2"}, {"s"});
  network.add_node("Flatten", {"s"}, {"y"});
  network.add_output("y");
  expect_close(answer(network, {"tensorflow"}), by_reference(network, "y"));
  const auto mixed = make_executor(
      network, {.frameworks = {"tensorflow"}, .placement = {placement_rule("Softsign=reference")}});
  expect_close(mixed->inference(fed()).at("y").tensor(), by_reference(network, "y"));
}

TEST_CASE("what is broadcast along channels leaves them last") {
  Network network = images();
  network.add_constant("scales", random_tensor({1, 32, 1, 1}, 4));
  network.add_node("Mul", {"scales", "p1"}, {"m"});
  network.add_node("GlobalAveragePool", {"m"}, {"y"});
  network.add_output("y");
  expect_close(answer(network, {"tensorflow"}), by_reference(network, "y"));
  const auto executor = make_executor(network, {.frameworks = {"tensorflow"}});
  (void)executor->inference(fed());
  const auto steps = steps_of(*executor);
  CHECK(std::count(steps.begin(), steps.end(), "Mul nhwc") == 1);
}

TEST_CASE("one and three spatial dimensions have their orders") {
  for (const auto& [spatial, layout] : {std::pair(std::vector<std::int64_t>{9}, "nwc"),
                                        std::pair(std::vector<std::int64_t>{4, 5, 6}, "ndhwc")}) {
    Shape x{2, 3}, w{4, 3};
    for (const std::int64_t size : spatial) {
      x.push_back(size);
      w.push_back(3);
    }
    Network network("spatial");
    network.add_input("x", DType::float32, {x.begin(), x.end()});
    network.add_parameter("w", random_tensor(w, 2));
    network.add_node("Conv", {"x", "w"}, {"c"});
    network.add_node("Relu", {"c"}, {"y"});
    network.add_output("y");
    const ValueMap inputs{{"x", random_tensor(x, 1)}};
    const auto executor = make_executor(network.copy(), {.frameworks = {"tensorflow"}});
    const auto reference = make_executor(network.copy());
    expect_close(executor->inference(inputs).at("y").tensor(),
                 reference->inference(inputs).at("y").tensor());
    const auto steps = steps_of(*executor);
    CHECK(std::count(steps.begin(), steps.end(), std::string("Relu ") + layout) == 1);
  }
}

TEST_CASE("training by TensorFlow's kernels has rows alone, and the reference's gradients") {
  Network network = images();
  network.add_node("ReduceMean", {"c3"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  Network judged = network.copy();
  const auto executor = make_executor(network, {.frameworks = {"tensorflow"}});
  const auto judge = make_executor(judged, {});
  (void)executor->inference_and_backprop(fed(), "loss");
  (void)judge->inference_and_backprop(fed(), "loss");
  for (const char* name : {"c1.w", "c1.b", "c2.w", "scale", "c3.w"}) {
    INFO(name);
    expect_close(network.parameter(name).gradient, judged.parameter(name).gradient);
  }
}

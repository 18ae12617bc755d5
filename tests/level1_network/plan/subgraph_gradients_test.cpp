// SPDX-License-Identifier: Apache-2.0
// Gradients through If and Loop, against differences in float64 and against the same network
// without them.
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace subgraphs;

namespace {

/// s' = tanh(s w + b), with w and b captured; s' is stacked, too.
GraphPointer recurrence() {
  return graph({"t", "go", "s"},
               {node("Identity", {"go"}, {"going"}), node("Mul", {"s", "w"}, {"scaled"}),
                node("Add", {"scaled", "b"}, {"moved"}), node("Tanh", {"moved"}, {"next"}),
                node("Mul", {"next", "s"}, {"seen"})},
               {"going", "next", "seen"});
}

ValueMap recurrence_inputs(std::int64_t trips, bool go = true) {
  return {{"n", count(trips)},
          {"c", flag(go)},
          {"s0", doubles({2, 3}, -0.5, 0.3)},
          {"w", doubles({3}, 0.7, 0.2)},
          {"b", doubles({2, 1}, 0.1, 0.4)}};
}

}  // namespace

TEST_CASE("If passes the gradients of the branch that it takes to what the branch captures") {
  const auto then_branch = graph({}, {node("Mul", {"x", "w"}, {"a"})}, {"a"});
  const auto else_branch =
      graph({}, {node("Sin", {"x"}, {"s"}), node("Mul", {"s", "x"}, {"b"})}, {"b"});
  const std::vector<Node> nodes = {
      node("If", {"c"}, {"y"}, {{"then_branch", then_branch}, {"else_branch", else_branch}})};
  for (const bool condition : {true, false}) {
    const ValueMap inputs = {
        {"c", flag(condition)}, {"x", doubles({2, 2}, 0.3, 0.4)}, {"w", doubles({2, 2}, -1, 0.7)}};
    const auto branching = network(inputs, nodes, {"y"});
    check_by_differences(branching, inputs);
    const auto w = gradients(branching, inputs).at("w");
    CHECK((w == std::vector<double>(4, 0)) == !condition);
  }
}

TEST_CASE("one value that both branches and the nodes around them read has all its gradients") {
  const auto same = graph({}, {node("Identity", {"x"}, {"a"})}, {"a"});
  const auto cube =
      graph({}, {node("Mul", {"x", "x"}, {"q"}), node("Mul", {"q", "x"}, {"b"})}, {"b"});
  const ValueMap inputs = {{"c", flag(false)}, {"x", doubles({2}, 0.5, 1)}};
  check_by_differences(
      network(inputs,
              {node("If", {"c"}, {"y"}, {{"then_branch", same}, {"else_branch", cube}}),
               node("Exp", {"x"}, {"e"}), node("Add", {"y", "e"}, {"z"})},
              {"y", "z"}),
      inputs);
}

TEST_CASE("Loop passes gradients through its variables, its slices and what it captures") {
  const ValueMap inputs = recurrence_inputs(3);
  const auto looped =
      network(inputs, {node("Loop", {"n", "c", "s0"}, {"last", "all"}, {{"body", recurrence()}})},
              {"last", "all"});
  check_by_differences(looped, inputs);

  std::vector<Node> nodes;
  for (int t = 0; t < 3; ++t) {
    const std::string s = "s" + std::to_string(t), i = std::to_string(t);
    const std::string next = t == 2 ? "last" : "s" + std::to_string(t + 1);
    nodes.push_back(node("Mul", {s, "w"}, {"scaled" + i}));
    nodes.push_back(node("Add", {"scaled" + i, "b"}, {"moved" + i}));
    nodes.push_back(node("Tanh", {"moved" + i}, {next}));
    nodes.push_back(node("Mul", {next, s}, {"seen" + i}));
  }
  nodes.push_back(
      node("Concat", {"seen0", "seen1", "seen2"}, {"all"}, {{"axis", std::int64_t{0}}}));
  check_same(looped, network(inputs, nodes, {"last", "all"}), inputs);
}

TEST_CASE("a Loop of no trips passes gradients on as they are") {
  const ValueMap inputs = recurrence_inputs(3, false);
  const auto looped = network(
      inputs, {node("Loop", {"n", "c", "s0"}, {"last"}, {{"body", recurrence()}})}, {"last"});
  const auto found = gradients(looped, inputs);
  const auto s0 = numbers(inputs.at("s0").tensor());
  for (std::size_t i = 0; i < s0.size(); ++i) CHECK(found.at("s0")[i] == 2 * s0[i]);
  CHECK(found.at("w") == std::vector<double>(3, 0));
  CHECK(found.at("b") == std::vector<double>(2, 0));
}

TEST_CASE("a Loop that its data ends has the gradients of the trips that it made") {
  // x doubles, by way of w = 2, while its sum is below 10: three trips.
  const auto body = graph({"t", "go", "x"},
                          {node("Mul", {"x", "w"}, {"y"}),
                           node("ReduceSum", {"y"}, {"sum"}, {{"keepdims", std::int64_t{0}}}),
                           node("Less", {"sum", "ten"}, {"goes"})},
                          {"goes", "y"});
  const ValueMap inputs = {{"c", flag(true)},
                           {"ten", Tensor::scalar(10.0)},
                           {"x0", doubles({2}, 0.5, 0.75)},
                           {"w", Tensor::scalar(2.0)}};
  const auto looped =
      network(inputs, {node("Loop", {"", "c", "x0"}, {"last"}, {{"body", body}})}, {"last"});
  check_by_differences(looped, inputs);
  // last = w^3 x0, so the loss is w^6 |x0|^2.
  CHECK(gradients(looped, inputs).at("w")[0] ==
        Approx(6 * 32 * (0.25 + 1.25 * 1.25)).epsilon(1e-14));
}

TEST_CASE("graphs in graphs pass gradients to what only the innermost captures") {
  const auto add = graph({}, {node("Mul", {"y", "w"}, {"a"})}, {"a"});
  const auto sine = graph({}, {node("Sin", {"y"}, {"b"})}, {"b"});
  const auto inner =
      graph({"k", "on", "y"},
            {node("Identity", {"on"}, {"still"}), node("Less", {"k", "one"}, {"first"}),
             node("If", {"first"}, {"z"}, {{"then_branch", add}, {"else_branch", sine}}),
             node("Add", {"z", "x"}, {"v"})},
            {"still", "v", "z"});
  const auto outer = graph({"t", "go", "x"},
                           {node("Identity", {"go"}, {"going"}),
                            node("Loop", {"m", "", "x"}, {"y", "zs"}, {{"body", inner}}),
                            node("ReduceMean", {"zs"}, {"mean"}, {{"keepdims", std::int64_t{0}}}),
                            node("Mul", {"y", "mean"}, {"next"})},
                           {"going", "next"});
  const ValueMap inputs = {{"n", count(3)},
                           {"m", count(2)},
                           {"one", count(1)},
                           {"x0", doubles({2}, 0.6, 0.5)},
                           {"w", doubles({2}, 0.9, -0.3)}};
  check_by_differences(
      network(inputs, {node("Loop", {"n", "", "x0"}, {"last"}, {{"body", outer}})}, {"last"}),
      inputs);
}

TEST_CASE("what a body captures and takes stays as it was until it was gone back through") {
  std::vector<Node> nodes = {
      node("Mul", {"x", "x"}, {"captured"}), node("Sin", {"x"}, {"given"}),
      node("Loop", {"n", "", "given"}, {"y"},
           {{"body", graph({"t", "go", "s"},
                           {node("Identity", {"go"}, {"going"}),
                            node("Mul", {"s", "captured"}, {"r"}), node("Tanh", {"r"}, {"next"})},
                           {"going", "next"})}})};
  // Many values of the same size, each read once: they would take over memory that is not kept.
  std::string last = "x";
  for (int i = 0; i < 8; ++i) {
    const std::string next = "e" + std::to_string(i);
    nodes.push_back(node(i % 2 == 0 ? "Sigmoid" : "Cos", {last}, {next}));
    last = next;
  }
  nodes.push_back(node("Add", {last, "y"}, {"z"}));
  const ValueMap inputs = {{"n", count(2)}, {"x", doubles({4}, 0.4, 0.3)}};
  check_by_differences(network(inputs, nodes, {"z"}), inputs);
}

TEST_CASE("a body may hand on what it is given, and give one result twice") {
  const auto body = graph({"t", "go", "a", "b"}, {node("Mul", {"a", "b"}, {"p"})},
                          {"go", "b", "p", "p"});  // a' = b, b' = a b, and b' is stacked
  const ValueMap inputs = {{"n", count(4)},
                           {"c", flag(true)},
                           {"a0", doubles({2}, 0.7, 0.4)},
                           {"b0", doubles({2}, 1.1, 0.2)}};
  check_by_differences(
      network(inputs, {node("Loop", {"n", "c", "a0", "b0"}, {"a", "b", "all"}, {{"body", body}})},
              {"a", "b", "all"}),
      inputs);
}

TEST_CASE("parameters that a body captures have gradients, in a network that was loaded, too") {
  const ValueMap inputs = {{"x", Tensor::of<float>({1}, {5})}};
  d5::Network network("captured");
  network.add_input("x", DType::float32, {1});
  network.add_constant("n", Tensor::scalar(std::int64_t{3}));
  network.add_parameter("w", Tensor::of<float>({1}, {2}));
  const auto body = graph({"t", "go", "y"},
                          {node("Identity", {"go"}, {"going"}), node("Mul", {"y", "w"}, {"next"})},
                          {"going", "next"});
  network.add_node("Loop", {"n", "", "x"}, {"loss"}, {{"body", body}});
  network.add_output("loss");
  const auto check = [&](d5::Network trained) {
    REQUIRE(trained.is_parameter("w"));
    auto executor = d5::make_executor(trained);
    (void)executor->inference_and_backprop(inputs, "loss");
    CHECK(trained.parameter("w").gradient.item<float>() == 60);  // 3 w^2 x
  };
  check(network);
  const d5::Network loaded(network.model());
  check(loaded);
  const auto subject = d5::make_executor(network), reference = d5::make_executor(loaded);
  const auto records = d5::test_executor_backprop(*subject, *reference, inputs, "loss");
  REQUIRE(records.size() == 2);
  for (const auto& record : records) CHECK(record.status == d5::Status::passed);
}

TEST_CASE("random numbers are the same when a body runs again") {
  const auto body =
      graph({"t", "go", "y"},
            {node("Identity", {"go"}, {"going"}),
             node("RandomNormal", {}, {"noise"},
                  {{"shape", std::vector<std::int64_t>{2}}, {"dtype", std::int64_t{11}}}),
             node("Mul", {"y", "noise"}, {"next"})},
            {"going", "next"});
  const ValueMap inputs = {{"n", count(3)}, {"x", doubles({2}, 0.5, 1)}};
  d5::Network noisy("noisy");
  noisy.add_input("n", DType::int64, {});
  noisy.add_input("x", DType::float64, {2});
  noisy.add_node("Loop", {"n", "", "x"}, {"y"}, {{"body", body}});
  noisy.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  noisy.add_output("loss");
  noisy.add_output("y");
  auto executor = d5::make_executor(noisy, {.seed = 7, .gradients = {"x"}});
  const auto y = numbers(executor->inference_and_backprop(inputs, "loss").at("y").tensor());
  const auto gradient = numbers(executor->gradient("x"));
  for (std::size_t i = 0; i < 2; ++i) CHECK(gradient[i] == Approx(y[i] / (0.5 + double(i))));
}

TEST_CASE("numbers without a gradient that only running shows to be such end its path") {
  const auto two =
      graph({}, {node("Constant", {}, {"k"}, {{"value_int", std::int64_t{2}}})}, {"k"});
  const auto pick =
      graph({}, {node("Shape", {"x"}, {"dims"}), node("Gather", {"dims", "zero"}, {"k"})}, {"k"});
  const ValueMap inputs = {{"c", flag(false)}, {"zero", count(0)}, {"x", doubles({3}, 0.5, 1)}};
  check_by_differences(
      network(inputs,
              {node("If", {"c"}, {"k"}, {{"then_branch", two}, {"else_branch", pick}}),
               node("Add", {"k", "k"}, {"sum"}),
               node("Cast", {"sum"}, {"factor"}, {{"to", std::int64_t{11}}}),  // to float64
               node("Mul", {"x", "factor"}, {"y"})},
              {"y"}),
      inputs);
}

TEST_CASE("a node without gradient in a body is named, if the loss depends on it") {
  const auto body = graph({"t", "go", "y"},
                          {node("Identity", {"go"}, {"going"}), node("Hardmax", {"y"}, {"hard"}),
                           node("Mul", {"y", "y"}, {"next"})},
                          {"going", "next", "hard"});
  const ValueMap inputs = {{"n", count(2)}, {"x", doubles({1, 2}, 0.5, 1)}};
  const std::vector<Node> nodes = {node("Loop", {"n", "", "x"}, {"y", "hards"}, {{"body", body}})};
  check_by_differences(network(inputs, nodes, {"y"}), inputs);
  auto executor = d5::make_executor(network(inputs, nodes, {"y", "hards"}), {.gradients = {"x"}});
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "loss"), d5::Unsupported);
  CHECK_THROWS_WITH(executor->inference_and_backprop(inputs, "loss"), Catch::Contains("Hardmax"));
}

TEST_CASE("a sequence on the way of a gradient is refused") {
  const auto insert =
      graph({"t", "go", "parts"},
            {node("Identity", {"go"}, {"going"}), node("SequenceInsert", {"parts", "x"}, {"more"})},
            {"going", "more"});
  const auto add =
      graph({"t", "go", "sum"},
            {node("Identity", {"go"}, {"going"}), node("SequenceAt", {"parts", "t"}, {"part"}),
             node("Add", {"sum", "part"}, {"next"})},
            {"going", "next"});
  const ValueMap inputs = {{"n", count(2)}, {"x", doubles({2}, 0.5, 1)}};
  std::vector<Node> nodes = {node("SequenceEmpty", {}, {"none"}, {{"dtype", std::int64_t{11}}}),
                             node("Loop", {"n", "", "none"}, {"parts"}, {{"body", insert}})};
  std::string reason;
  SECTION("by the operator that takes it") {
    nodes.push_back(node("ConcatFromSequence", {"parts"}, {"y"}, {{"axis", std::int64_t{0}}}));
    reason = "ConcatFromSequence";
  }
  SECTION("by the Loop that captures it") {
    nodes.push_back(node("Loop", {"n", "", "x"}, {"y"}, {{"body", add}}));
    reason = "on the path lies sequence";
  }
  auto executor = d5::make_executor(network(inputs, nodes, {"y"}), {.gradients = {"x"}});
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "loss"), d5::Unsupported);
  CHECK_THROWS_WITH(executor->inference_and_backprop(inputs, "loss"), Catch::Contains(reason));
}

// SPDX-License-Identifier: Apache-2.0
// Gradients through sequences whose elements are known while compiling, against differences in
// float64 of runs that do make sequences.
#include "d5/core/errors/error.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace subgraphs;

namespace {

constexpr std::int64_t kStacks = 1;

Node integer(const std::string& name, std::int64_t value) {
  return node("Constant", {}, {name}, {{"value", Tensor::scalar(value)}});
}

Node integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return node("Constant", {}, {name}, {{"value", Tensor::vector(values)}});
}

ValueMap three() {
  return {{"a", doubles({2, 3}, -0.5, 0.3)},
          {"b", doubles({2, 3}, 0.7, 0.2)},
          {"c", doubles({2, 3}, 0.1, -0.4)}};
}

}  // namespace

TEST_CASE("an element of a constructed sequence has its gradients, from every reader") {
  const std::vector<Node> nodes = {integer("last", -1),
                                   integer("first", 0),
                                   node("SequenceConstruct", {"a", "b", "c"}, {"s"}),
                                   node("SequenceAt", {"s", "last"}, {"x"}),
                                   node("SequenceAt", {"s", "first"}, {"y"}),
                                   node("Mul", {"x", "y"}, {"z"}),
                                   node("Mul", {"z", "x"}, {"w"})};
  const auto built = network(three(), nodes, {"w", "x"});
  check_by_differences(built, three());
  CHECK(gradients(built, three()).at("b") == std::vector<double>(6, 0));  // nobody reads it
}

TEST_CASE("a sequence is joined, along an axis or along a new one") {
  for (const std::int64_t stacks : {std::int64_t{0}, kStacks}) {
    for (const std::int64_t axis : {0, 1, -1}) {
      INFO(stacks << " " << axis);
      const std::vector<Node> nodes = {
          node("SequenceConstruct", {"a", "b", "a"}, {"s"}),
          node("ConcatFromSequence", {"s"}, {"x"}, {{"axis", axis}, {"new_axis", stacks}}),
          node("Sin", {"x"}, {"y"})};
      check_by_differences(network(three(), nodes, {"y"}), three());
    }
  }
}

TEST_CASE("what is inserted and erased is what is read") {
  const std::vector<Node> nodes = {
      integer("one", 1),
      integer("two", 2),
      node("SequenceConstruct", {"a", "b"}, {"s"}),
      node("SequenceInsert", {"s", "c", "one"}, {"acb"}),
      node("SequenceInsert", {"acb", "a"}, {"acba"}),
      node("SequenceErase", {"acba", "two"}, {"aca"}),
      node("SequenceErase", {"aca"}, {"ac"}),
      node("ConcatFromSequence", {"ac"}, {"x"}, {{"axis", std::int64_t{1}}}),
      node("SequenceAt", {"acba", "two"}, {"y"})};
  check_by_differences(network(three(), nodes, {"x", "y"}), three());
}

TEST_CASE("a tensor is split into slices, equal parts and parts of given sizes") {
  const ValueMap inputs = {{"x", doubles({2, 5}, -0.5, 0.3)}};
  const auto check = [&](std::vector<Node> nodes, Names split_inputs, std::int64_t keepdims) {
    nodes.push_back(integer("one", 1));
    nodes.push_back(node("SplitToSequence", std::move(split_inputs), {"s"},
                         {{"axis", std::int64_t{-1}}, {"keepdims", keepdims}}));
    nodes.push_back(node("SequenceAt", {"s", "one"}, {"part"}));
    nodes.push_back(node("Exp", {"part"}, {"y"}));
    check_by_differences(network(inputs, nodes, {"y"}), inputs);
  };
  check({}, {"x"}, 1);
  check({}, {"x"}, 0);
  check({integer("size", 2)}, {"x", "size"}, 1);  // 2, 2 and 1
  check({integers("sizes", {1, 4})}, {"x", "sizes"}, 0);
}

TEST_CASE("a graph in a graph has sequences of its own") {
  const auto joined = graph({},
                            {node("SequenceConstruct", {"a", "c"}, {"s"}),
                             node("ConcatFromSequence", {"s"}, {"t"}, {{"axis", std::int64_t{0}}})},
                            {"t"});
  const auto other = graph({}, {node("Neg", {"b"}, {"u"})}, {"u"});
  for (const bool condition : {true, false}) {
    ValueMap inputs = three();
    inputs["go"] = flag(condition);
    check_by_differences(
        network(inputs,
                {node("If", {"go"}, {"y"}, {{"then_branch", joined}, {"else_branch", other}})},
                {"y"}),
        inputs);
  }
}

TEST_CASE("the length is known, and a sequence that is an output is made as well") {
  const std::vector<Node> nodes = {integer("one", 1),
                                   node("SequenceConstruct", {"a", "b"}, {"s"}),
                                   node("SequenceAt", {"s", "one"}, {"x"}),
                                   node("SequenceLength", {"s"}, {"n"}),
                                   node("Cast", {"n"}, {"m"}, {{"to", std::int64_t{11}}}),
                                   node("Mul", {"m", "x"}, {"y"})};
  auto built = network(three(), nodes, {"y"});
  check_by_differences(built, three());
  built.add_output("s");
  auto executor = d5::make_executor(built, {.gradients = {"b"}});
  const auto& outputs = executor->inference_and_backprop(three(), "loss");
  REQUIRE(outputs.at("s").sequence().values.size() == 2);
  CHECK(numbers(outputs.at("s").sequence().values[1].tensor()) ==
        numbers(three().at("b").tensor()));
}

TEST_CASE("names of parts that the graph has already are left to it") {
  const ValueMap inputs = {{"x", doubles({2, 2}, -0.5, 0.3)}};
  const std::vector<Node> nodes = {
      integer("one", 1), node("Neg", {"x"}, {"s/1"}), node("SplitToSequence", {"x"}, {"s"}),
      node("SequenceAt", {"s", "one"}, {"part"}), node("Mul", {"part", "s/1"}, {"y"})};
  check_by_differences(network(inputs, nodes, {"y"}), inputs);
}

TEST_CASE(
    "where only running tells which element is read, there is no gradient, and wrong ones "
    "are refused as ever") {
  ValueMap inputs = three();
  inputs["i"] = count(1);
  const auto at = [&](const std::string& position, std::vector<Node> nodes = {}) {
    nodes.push_back(node("SequenceConstruct", {"a", "b"}, {"s"}));
    nodes.push_back(node("SequenceAt", {"s", position}, {"y"}));
    auto executor = d5::make_executor(network(inputs, nodes, {"y"}), {.gradients = {"a"}});
    (void)executor->inference_and_backprop(inputs, "loss");
  };
  CHECK_THROWS_AS(at("i"), d5::Unsupported);
  CHECK_THROWS_WITH(at("i"), Catch::Contains("SequenceAt") && Catch::Contains("no gradient"));
  CHECK_THROWS_AS(at("seven", {integer("seven", 7)}), d5::Unsupported);
}

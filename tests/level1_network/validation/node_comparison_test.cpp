// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/node_comparison.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/level1_network/subgraph_networks.hpp"
#include "tests/level1_network/toy_framework.hpp"

using namespace d5;
using Catch::Contains;

namespace {

MakeExecutor in(const std::string& word) {
  return [word](Network network) { return open_executor(word, std::move(network)); };
}

/// exp(20 tanh(x)) + relu(x): what the first node does wrong by 1%, the third makes 16% of.
Network amplifying() {
  Network network("amplifying");
  network.add_input("x", DType::float32, {std::int64_t{3}});
  network.add_constant("twenty", Tensor::of<float>({1}, {20}));
  network.add_node("Tanh", {"x"}, {"h"}, {}, "twisted");
  network.add_node("Mul", {"h", "twenty"}, {"s"}, {}, "scaled");
  network.add_node("Exp", {"s"}, {"e"}, {}, "amplified");
  network.add_node("Relu", {"x"}, {"r"}, {}, "aside");
  network.add_node("Add", {"e", "r"}, {"y"}, {}, "joined");
  network.add_output("y");
  return network;
}

const ValueMap& compared_inputs() {
  static const ValueMap values = {{"x", Tensor::of<float>({3}, {0.5, 0.75, 1})}};
  return values;
}

const Measurement& compared_record(const std::vector<Measurement>& records, const std::string& node,
                                   const std::string& metric) {
  const auto place = std::ranges::find_if(records, [&](const Measurement& m) {
    return m.metric == metric && m.conditions.at("node") == node;
  });
  if (place == records.end()) FAIL("there is no " << metric << " of " << node);
  return *place;
}

}  // namespace

TEST_CASE("the wrong node is named, not those that make more of its error") {
  const auto [tolerance, piece_bytes] = GENERATE(
      std::pair{std::optional<ForwardTolerance>(), std::size_t{1} << 20},
      std::pair{std::optional<ForwardTolerance>(), std::size_t{1}},  // a node at a time
      std::pair{std::optional(ForwardTolerance{.relative = 1e-4, .absolute = 0}), std::size_t{1}});
  const auto records =
      compare_nodes(amplifying(), in(toy::wrong() + "+reference"), in("reference"),
                    compared_inputs(), {.tolerance = tolerance, .piece_bytes = piece_bytes});
  REQUIRE(records.size() == 2 * 5);
  const Measurement* first = first_to_differ(records);
  REQUIRE(first);
  CHECK(first->conditions.at("node") == "twisted");
  CHECK(first->conditions.at("operator") == "Tanh");
  CHECK(first->conditions.at("place") == "1");

  const auto error = [&](const std::string& node, const std::string& metric) {
    return compared_record(records, node, metric).samples.at(0);
  };
  CHECK(error("twisted", "accumulated_error") == Approx(0.01).epsilon(1e-4));
  // exp(20 x 0.01 tanh(1)) - 1
  CHECK(error("amplified", "accumulated_error") == Approx(0.16454).epsilon(1e-3));
  CHECK(error("twisted", "own_error") == Approx(0.01).epsilon(1e-4));
  for (const std::string node : {"scaled", "amplified", "joined"}) {
    INFO(node);
    CHECK(compared_record(records, node, "own_error").status == Status::passed);
    const auto& accumulated = compared_record(records, node, "accumulated_error");
    CHECK(accumulated.status == Status::failed);
    CHECK(accumulated.conditions.at("inputs") == "differ");
  }
  CHECK(compared_record(records, "aside", "accumulated_error").status == Status::passed);
  CHECK(compared_record(records, "aside", "own_error").status == Status::passed);
  CHECK(compared_record(records, "aside", "own_error").conditions.contains("tolerance"));
}

TEST_CASE("a table names the first node to differ and puts the wrong ones first") {
  const auto records = compare_nodes(amplifying(), in(toy::wrong() + "+reference"), in("reference"),
                                     compared_inputs());
  const std::string text = node_comparison_tables(records, Format::table);
  CHECK_THAT(text, Contains("amplifying, wrong,reference: first to differ is "
                            "Tanh 'twisted', node 1 of 5") &&
                       Contains("its inputs agree") && Contains("it is this node") &&
                       Contains("inherits it"));
  CHECK(text.find("differs by itself") < text.find("inherits it"));
}

TEST_CASE("a network that is right has no node that differs, nested graphs and losses included") {
  const bool nested = GENERATE(false, true);
  // A graph that captures what a node before it wrote.
  const ValueMap of_nested = {{"x", subgraphs::doubles({3}, 0.5, 0.25)},
                              {"c", Tensor::scalar<bool>(true)}};
  const auto branch = [](const std::string& op_type) {
    return subgraphs::graph({}, {subgraphs::node(op_type, {"h", "x"}, {"t"})}, {"t"});
  };
  const Network network =
      nested
          ? subgraphs::network(
                of_nested,
                {subgraphs::node("Tanh", {"x"}, {"h"}),
                 subgraphs::node("If", {"c"}, {"y"},
                                 {{"then_branch", branch("Mul")}, {"else_branch", branch("Add")}})},
                {"y"})
          : open_model("lenet", {{"with_loss", true}});
  const ValueMap fed = nested ? of_nested : random_inputs(network, {.batch = 2});
  const auto records = compare_nodes(network, in("reference"), in("reference"), fed);
  CHECK(records.size() == 2 * (network.graph().nodes.size() + (nested ? 1 : 0)));
  CHECK_FALSE(first_to_differ(records));
  for (const auto& m : records) {
    INFO(m.conditions.at("node").text() << ": " << m.reason);
    CHECK(m.status == Status::passed);
  }
  CHECK_THAT(node_comparison_tables(records, Format::table), Contains("nodes agree"));
}

TEST_CASE("the wrong node is named in a graph that a node holds, too") {
  const auto wrong_tanh = [](const std::string& input) {
    auto node = subgraphs::node("Tanh", {input}, {"t"});
    node.name = "twisted";
    return node;
  };
  const auto choice = [&](const std::string& input) {
    auto node = subgraphs::node(
        "If", {"c"}, {"w"},
        {{"then_branch", subgraphs::graph({}, {wrong_tanh(input)}, {"t"})},
         {"else_branch", subgraphs::graph({}, {subgraphs::node("Exp", {input}, {"e"})}, {"e"})}});
    node.name = "choice";
    return node;
  };
  Network network("held");
  network.add_input("x", DType::float32, {std::int64_t{3}});
  network.add_input("c", DType::boolean, {});
  network.add_input("rounds", DType::int64, {});
  const auto body =
      subgraphs::graph({"i", "go", "v"},
                       {subgraphs::node("Identity", {"go"}, {"goes"}), choice("v")}, {"goes", "w"});
  network.add_node("Loop", {"rounds", "", "x"}, {"y"}, {{"body", body}}, "loop");
  network.add_output("y");
  const ValueMap fed = {{"x", compared_inputs().at("x")},
                        {"c", Tensor::scalar(true)},
                        {"rounds", Tensor::scalar(std::int64_t{2})}};
  const auto records =
      compare_nodes(network, in(toy::wrong() + "+reference"), in("reference"), fed);
  const std::string twisted = "loop/body/choice/then_branch/twisted";
  CHECK(compared_record(records, twisted, "own_error").status == Status::failed);
  CHECK(compared_record(records, "loop/body/goes", "own_error").status == Status::passed);
  REQUIRE(first_to_differ(records));
  CHECK(first_to_differ(records)->conditions.at("node") == twisted);
}

TEST_CASE(
    "an operator that a framework lacks is reported by node, and the others are judged alone") {
  const auto records =
      compare_nodes(amplifying(), in(toy::wrong()), in("reference"), compared_inputs());
  CHECK(compared_record(records, "twisted", "accumulated_error").status == Status::unsupported);
  CHECK(compared_record(records, "twisted", "own_error").status == Status::failed);
  CHECK(compared_record(records, "amplified", "own_error").status == Status::unsupported);
  CHECK_THAT(compared_record(records, "amplified", "own_error").reason, Contains("Exp"));
  CHECK_THAT(node_comparison_tables(records, Format::table), Contains("unsupported"));
}

TEST_CASE("a comparison of nodes can be ended between any two of them") {
  const int asked = testing::interrupted_everywhere([&](const Interrupt& interrupt) {
    return compare_nodes(amplifying(), in("reference"), in("reference"), compared_inputs(),
                         {.interrupt = interrupt});
  });
  CHECK(asked >= 5 * 5);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_summary.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

namespace {

using d5::DType;
using d5::NetworkSummary;
using d5::SummaryBy;
using d5::Tensor;

/// y = relu(x a) b, and z = relu(x a) a again: a is shared.
d5::Network two_layers() {
  d5::Network network("two_layers");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_parameter("a", Tensor::zeros(DType::float32, {3, 3}));
  network.add_parameter("b", Tensor::zeros(DType::float32, {3, 5}));
  network.add_node("MatMul", {"x", "a"}, {"h"}, {}, "first.block.matmul");
  network.add_node("Relu", {"h"}, {"r"}, {}, "first.block.relu");
  network.add_node("MatMul", {"r", "b"}, {"y"}, {}, "second.block.matmul");
  network.add_node("MatMul", {"r", "a"}, {"z"}, {}, "second.block.again");
  network.add_output("y");
  network.add_output("z");
  return network;
}

const NetworkSummary::Part& part(const std::vector<NetworkSummary::Part>& parts,
                                 const std::string& name) {
  for (const auto& one : parts) {
    if (one.name == name) return one;
  }
  throw d5::NotFound(name);
}

/// The work that observers of a run see.
class ObservedCost final : public d5::ExecutionEvent {
 public:
  void before_node(const d5::StepInfo& step) override {
    flop += step.cost.flop;
    bytes += step.cost.bytes_read + step.cost.bytes_written;
  }
  double flop = 0, bytes = 0;
};

}  // namespace

TEST_CASE("work and parameters of every node are found without running") {
  const auto summary = d5::summarise(two_layers(), {.batch = 4});
  REQUIRE(summary.nodes.size() == 4);
  // A product of 4x3 and 3x3 takes 3 multiplications and additions an element.
  CHECK(summary.nodes[0].cost.flop == 2 * 4 * 3 * 3);
  CHECK(summary.nodes[0].cost.bytes_read == (4 * 3 + 3 * 3) * 4);
  CHECK(summary.nodes[0].cost.bytes_written == 4 * 3 * 4);
  CHECK(summary.nodes[1].cost.flop == 4 * 3);
  CHECK(summary.nodes[2].parameters == 15);
  CHECK(summary.nodes[3].parameters == 0);  // the first node reads them first
  CHECK(summary.total.parameters == 9 + 15);
  CHECK(summary.total.parameter_bytes == 24 * 4);
  CHECK(summary.total.cost.flop == 72 + 12 + 2 * 4 * 3 * 5 + 72);
  CHECK(summary.total.incomplete == 0);
}

TEST_CASE("tensors have the names of open sizes, and the sizes given") {
  const auto summary = d5::summarise(two_layers(), {.by_name = {{"N", 7}}});
  CHECK(to_string(summary.tensors.at("y").type) == "float32 Nx5");
  CHECK(to_string(summary.tensors.at("y").desc) == "float32 7x5");
  CHECK(to_string(summary.tensors.at("x").type) == "float32 Nx3");
  CHECK(summary.total.outputs == std::vector<std::string>{"y", "z"});
}

TEST_CASE("nodes are put together by layer and by operator") {
  const auto summary = d5::summarise(two_layers());
  const auto layers = parts_of(summary, SummaryBy::layer);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].name == "first.block");
  CHECK(layers[0].outputs == std::vector<std::string>{"r"});
  CHECK(part(layers, "second.block").parameters == 15);
  const auto operators = parts_of(summary, SummaryBy::operator_type);
  CHECK(part(operators, "MatMul").nodes == 3);
  CHECK(part(operators, "Relu").cost.flop == 3);
}

TEST_CASE("a summary gives the work that observers of a run see") {
  const d5::Network network = d5::models().at("lenet").make({});
  const auto executor = d5::make_executor(network);
  const auto observed = std::make_shared<ObservedCost>();
  executor->events().add(observed);
  (void)executor->inference(d5::random_inputs(network, {.batch = 2}));
  const auto summary = d5::summarise(network, {.batch = 2});
  CHECK(summary.total.cost.flop == observed->flop);
  CHECK(summary.total.cost.bytes_read + summary.total.cost.bytes_written == observed->bytes);
  CHECK(summary.total.parameters == 61706);  // LeCun et al. (1998), table of layers
}

TEST_CASE("shapes that are computed from shapes are known") {
  d5::Network network("computed");
  network.add_input("x", DType::float32, {"N", 2, 3});
  network.add_constant("minus", Tensor::vector<std::int64_t>({-1}));
  network.add_node("Shape", {"x"}, {"n"}, {{"end", std::int64_t{1}}});
  network.add_node("Concat", {"n", "minus"}, {"shape"}, {{"axis", std::int64_t{0}}});
  network.add_node("Reshape", {"x", "shape"}, {"y"});
  network.add_output("y");
  const auto summary = d5::summarise(network, {.batch = 5});
  CHECK(to_string(summary.tensors.at("y").type) == "float32 Nx?");
  CHECK(to_string(summary.tensors.at("y").desc) == "float32 5x6");
  CHECK(summary.total.incomplete == 0);
}

TEST_CASE("work that is known only by running is counted as incomplete") {
  d5::Network network("found");
  network.add_input("x", DType::float32, {4});
  network.add_node("NonZero", {"x"}, {"places"}, {}, "search");
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("places");
  network.add_output("y");
  const auto summary = d5::summarise(network);
  CHECK(summary.nodes[0].incomplete == 1);
  CHECK_THAT(summary.nodes[0].reason, Catch::Contains("run time"));
  CHECK(summary.total.incomplete == 1);
  CHECK(summary.total.cost.flop == 4);
}

TEST_CASE("an unknown operator is listed, and the others are counted") {
  d5::Network network("foreign");
  network.add_input("x", DType::float32, {4});
  d5::onnx::Node& foreign = network.add_node("Secret", {"x"}, {"s"}, {}, "secret");
  foreign.domain = "org.example.nobody";
  network.add_node("Relu", {"s"}, {"r"});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("r");
  network.add_output("y");
  const auto summary = d5::summarise(network);
  CHECK(summary.total.incomplete == 2);  // its reader's shapes are not known either
  CHECK_THAT(summary.total.reason, Catch::Contains("Secret"));
  CHECK(summary.total.cost.flop == 4);
}

TEST_CASE("a summary for shapes that do not fit is refused as a run is") {
  d5::Network network("misfit");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_input("w", DType::float32, {"M", 2});
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_output("y");
  CHECK_THROWS_AS(d5::summarise(network, {.batch = 4}), d5::ShapeError);
  CHECK(d5::summarise(network, {.by_name = {{"M", 3}}}).total.cost.flop == 2 * 3 * 2);
  CHECK_THROWS_AS(d5::summarise(network, {.by_name = {{"K", 3}}}), d5::NotFound);
}

TEST_CASE("a table has a row a part, and the total") {
  const auto summary = d5::summarise(two_layers(), {.batch = 4});
  const auto table = to_table(summary, SummaryBy::node, d5::Format::csv);
  REQUIRE(table.rows().size() == 5);
  CHECK(table.rows()[0] == std::vector<std::string>{"first.block.matmul", "MatMul", "float32 Nx3",
                                                    "9", "72", "132", "0.2608695652173913"});
}

TEST_CASE("weights in graphs that nodes hold are counted, and the branch that an If takes") {
  const auto product = [](const std::string& weights, std::int64_t columns) {
    const Tensor zeros = Tensor::zeros(DType::float32, {3, columns});
    return subgraphs::graph({},
                            {subgraphs::node("Constant", {}, {weights}, {{"value", zeros}}),
                             subgraphs::node("MatMul", {"x", weights}, {"p"})},
                            {"p"});
  };
  const auto choice = [&](const std::string& condition) {
    d5::Network network("choice");
    network.add_input("x", DType::float32, {2, 3});
    network.add_input("c", DType::boolean, {});
    network.add_constant("known", Tensor::scalar(true));
    network.add_node("If", {condition}, {"y"},
                     {{"then_branch", product("a", 4)}, {"else_branch", product("b", 5)}});
    network.add_output("y");
    return d5::summarise(network);
  };
  const auto open = choice("c");
  CHECK(open.total.parameters == 3 * 4 + 3 * 5);
  CHECK(open.total.parameter_bytes == 27 * 4);
  CHECK(open.total.incomplete == 1);
  const auto known = choice("known");
  CHECK(known.total.parameters == 27);
  CHECK(known.total.cost.flop == 2 * 2 * 3 * 4);
  CHECK(known.total.incomplete == 0);
}

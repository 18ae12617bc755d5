// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/communication_operators.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

onnx::Node node_of(const std::string& op_type, Attributes attributes = {}) {
  add_communication_operators();
  onnx::Node node;
  node.op_type = op_type;
  node.domain = "d5";
  node.opset = 1;
  node.inputs = {"x"};
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  return node;
}

Network network_of(onnx::Node node) {
  Network network("one node");
  network.add_input("x", DType::float64, {"N", 3});
  network.splice({.nodes = {std::move(node)}});
  network.add_output("y");
  return network;
}

/// Whole numbers, other ones for each rank and `what`: their sums of products are exact.
Tensor whole_numbers(Shape shape, int what) {
  Tensor tensor = Tensor::empty(DType::float64, std::move(shape));
  auto values = tensor.span<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = double((7 * int(i) + 5 * this_rank + 3 * what) % 11 - 4);
  }
  return tensor;
}

double product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

double over_ranks(double mine) {
  Tensor sum = Tensor::of<double>({1}, {mine});
  world()->all_reduce(sum);
  return sum.item<double>();
}

std::vector<double> values_of(const Value& value) {
  const auto values = value.tensor().span<double>();
  return {values.begin(), values.end()};
}

/// <A x, g> = <x, A' g>, summed over the ranks.
void check_adjoint(const onnx::Node& node, std::int64_t rows) {
  const auto executor = make_executor(network_of(node), {.gradients = {"x"}});
  const Tensor x = whole_numbers({rows, 3}, 1);
  const auto batch = executor->forward({{"x", x}}, {"y"});
  const Tensor y = batch->outputs().at("y").tensor().copy();
  const Tensor g = whole_numbers(y.shape(), 2);
  batch->backward({{"y", g}});
  const double there = over_ranks(product(y, g)),
               back = over_ranks(product(x, batch->gradient("x")));
  CHECK(there == back);
}

}  // namespace

TEST_CASE("the gradient of each collective is its adjoint, exactly in whole numbers") {
  check_adjoint(node_of("AllReduce"), 2);
  check_adjoint(node_of("AllGather"), 2);
  check_adjoint(node_of("ReduceScatter"), 2 * rank_count);
  for (std::int64_t root = 0; root < rank_count; ++root) {
    INFO(root);
    check_adjoint(node_of("Broadcast", {{"root", root}}), 2);
  }
}

TEST_CASE("collectives compute what they are called") {
  const double r = this_rank, n = rank_count;
  const auto run = [](const onnx::Node& node, const Tensor& x) {
    return values_of(make_executor(network_of(node))->inference({{"x", x}}).at("y"));
  };
  const Tensor x = Tensor::of<double>({1, 3}, {r, 1, -r});
  CHECK(run(node_of("AllReduce"), x) == std::vector<double>{n * (n - 1) / 2, n, -n * (n - 1) / 2});
  CHECK(run(node_of("AllReduce", {{"reduction", std::string("maximum")}}), x) ==
        std::vector<double>{n - 1, 1, 0});
  CHECK(run(node_of("Broadcast", {{"root", std::int64_t{last_rank}}}), x) ==
        std::vector<double>{n - 1, 1, 1 - n});
  std::vector<double> all, rows;
  for (int i = 0; i < rank_count; ++i) {
    all.insert(all.end(), {double(i), 1, -double(i)});
    rows.insert(rows.end(), {double(i), 10.0 * i, r});
  }
  CHECK(run(node_of("AllGather"), x) == all);
  CHECK(run(node_of("ReduceScatter"), Tensor::of<double>({rank_count, 3}, rows)) ==
        std::vector<double>{n * r, 10 * n * r, n * (n - 1) / 2});
}

TEST_CASE("a gradient goes back from the rank that received to the one that sent") {
  if (rank_count == 1) return;
  const std::int64_t peer = this_rank ^ 1;
  if (peer >= rank_count) return;  // the last of three
  add_communication_operators();
  if (this_rank < peer) {
    const auto sender =
        make_executor(network_of(node_of("Send", {{"to", peer}, {"tag", std::int64_t{3}}})),
                      {.gradients = {"x"}});
    const auto batch = sender->forward({{"x", Tensor::of<double>({1, 3}, {1, 2, 3})}}, {"y"});
    batch->backward({{"y", Tensor::zeros(DType::float64, {0})}});
    CHECK(values_of(batch->gradient("x")) == std::vector<double>{10, 20, 30});
  } else {
    onnx::Node node = node_of("Receive", {{"from", peer},
                                          {"tag", std::int64_t{3}},
                                          {"shape", std::vector<std::int64_t>{1, 3}},
                                          {"type", std::string("float64")}});
    node.inputs = {"asks"};
    Network network("receiver");
    network.add_input("asks", DType::float64, {std::int64_t{0}});
    network.splice({.nodes = {node}});
    network.add_output("y");
    const auto receiver = make_executor(network, {.gradients = {"asks"}});
    const auto batch = receiver->forward({{"asks", Tensor::zeros(DType::float64, {0})}}, {"y"});
    CHECK(values_of(batch->outputs().at("y")) == std::vector<double>{1, 2, 3});
    batch->backward({{"y", Tensor::of<double>({1, 3}, {10, 20, 30})}});
  }
}

TEST_CASE("reduced gradients are the identity forward, and the mean or the sum backward") {
  for (const bool mean : {true, false}) {
    const auto executor = make_executor(
        network_of(node_of(mean ? "AverageGradient" : "SumGradient")), {.gradients = {"x"}});
    const Tensor x = Tensor::of<double>({1, 3}, {1, double(this_rank), 3});
    const auto batch = executor->forward({{"x", x}}, {"y"});
    CHECK(values_of(batch->outputs().at("y")) == values_of(x));
    // Rank r gives 4 r: their mean is a whole number for 1 to 4 ranks, but its factor is rounded.
    batch->backward({{"y", Tensor::of<double>({1, 3}, {4.0 * this_rank, 0, 4})}});
    const double n = rank_count, sum = 2 * n * (n - 1), factor = mean ? 1 / n : 1;
    CHECK(values_of(batch->gradient("x")) == std::vector<double>{sum * factor, 0, 4 * n * factor});
  }
}

TEST_CASE("a node that depends on constants alone calls in every run, and is counted") {
  Network network("constant");
  network.add_constant("x", Tensor::of<double>({1, 3}, {1, 2, 3}));
  network.splice({.nodes = {node_of("AllReduce")}});
  network.add_output("y");
  const auto executor = make_executor(network);
  const auto calls = [] {
    const auto& counts = world()->traffic().by_call;
    const auto place = counts.find("all_reduce");
    return place == counts.end() ? 0 : place->second.calls;
  };
  const auto before = calls();
  for (int run = 0; run < 3; ++run) {
    CHECK(values_of(executor->inference({}).at("y")) ==
          std::vector<double>{1.0 * rank_count, 2.0 * rank_count, 3.0 * rank_count});
  }
  CHECK(calls() - before == 3);
}

TEST_CASE("nodes call the group that they name") {
  const auto group = world()->split(this_rank % 2);
  name_communication_group("parity", group);
  const auto executor =
      make_executor(network_of(node_of("AllReduce", {{"group", std::string("parity")}})));
  const Tensor x = Tensor::of<double>({1, 3}, {1, 1, 1});
  CHECK(values_of(executor->inference({{"x", x}}).at("y"))[0] == group->size());
}

TEST_CASE("nodes that cannot be carried out are refused when they are compiled") {
  const Tensor x = Tensor::zeros(DType::float64, {rank_count + 1, 3});
  const auto run = [&](const onnx::Node& node) {
    (void)make_executor(network_of(node))->inference({{"x", x}});
  };
  CHECK_THROWS_AS(run(node_of("AllReduce", {{"group", std::string("wrld")}})), NotFound);
  CHECK_THROWS_AS(run(node_of("AllReduce", {{"reduction", std::string("mean")}})), NotFound);
  CHECK_THROWS_AS(run(node_of("Broadcast")), NotFound);
  CHECK_THROWS_AS(run(node_of("Broadcast", {{"root", std::int64_t{-1}}})), ValueError);
  CHECK_THROWS_AS(run(node_of("Send")), NotFound);
  CHECK_THROWS_AS(run(node_of("Send", {{"to", std::int64_t{0}}, {"tag", std::int64_t{1} << 20}})),
                  ValueError);
  CHECK_THROWS_AS(run(node_of("Receive", {{"from", std::int64_t{0}}})), NotFound);
  if (rank_count > 1) CHECK_THROWS_AS(run(node_of("ReduceScatter")), ShapeError);
  CHECK_THROWS_AS(name_communication_group("nobody", nullptr), ValueError);
}

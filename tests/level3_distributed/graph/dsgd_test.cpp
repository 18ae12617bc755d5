// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level3_distributed/graph/ranks_batches.hpp"

using namespace d5;
using namespace d5::testing;

TEST_CASE("a plain optimizer on a network that averages gradients is data-parallel") {
  add_communication_operators();
  Network transformed = lenet(), plain = lenet();
  const auto applied = apply_transforms(transformed, {{"dsgd"}});
  CHECK(applied.front().report.what ==
        "averages " + std::to_string(plain.parameters().size()) + " gradients over world");
  const auto by_graph = momentum(transformed);
  const auto by_scheme =
      distributed_optimizers().at("consistent_decentralized").make(momentum(plain), world());
  for (int step = 0; step < 3; ++step) {
    by_graph->step(batch_of(step));
    by_scheme->step(batch_of(step));
  }
  for (const Parameter& parameter : transformed.parameters()) {
    INFO(parameter.name);
    Tensor first = parameter.value.copy();
    world()->broadcast(first, 0);
    CHECK(std::memcmp(first.raw(), parameter.value.raw(), first.bytes()) == 0);
    const Tensor& other = plain.parameter(parameter.name).value;
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < other.elements(); ++i) {
      difference += std::pow(double(first.data<float>()[i]) - other.data<float>()[i], 2);
      size += std::pow(other.data<float>()[i], 2);
    }
    // The scheme weighs each rank's loss before it is differentiated, this one the sum after it: a
    // few roundings of 2^-24 a step, which three steps carry on.
    CHECK(std::sqrt(difference) <= 1e-5 * std::sqrt(size));
  }
}

TEST_CASE("gradients that are averaged already are left") {
  add_communication_operators();
  Network network = lenet();
  apply_transforms(network, {{"dsgd"}});
  const std::size_t nodes = network.graph().nodes.size();
  const auto again = apply_transforms(network, {{"dsgd"}});
  CHECK(network.graph().nodes.size() == nodes);
  CHECK(again.front().report.what.empty());
  // One line more: nodes between ranks are not tried out, for other ranks would wait.
  CHECK(again.front().report.left.size() == network.parameters().size() + 1);
  CHECK_THAT(again.front().report.left.back(), Catch::Contains("not judged"));
}

TEST_CASE("a group that nobody named is refused before the network is changed") {
  add_communication_operators();
  Network network = lenet();
  const std::size_t nodes = network.graph().nodes.size();
  CHECK_THROWS_AS(apply_transforms(network, {{"dsgd", {{"group", "nobody"}}}}), NotFound);
  CHECK(network.graph().nodes.size() == nodes);
}

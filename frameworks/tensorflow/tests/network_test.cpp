// SPDX-License-Identifier: Apache-2.0
// Tests of whole networks as one graph of TensorFlow.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/level1_network.hpp"

using namespace d5;

namespace {

std::shared_ptr<GraphExecutor> graph_executor(Network network,
                                              const ExecutorOptions& options = {}) {
  return framework("tensorflow")
      .part<ExecutorRegistry>()
      .at("graph")
      .make(std::move(network), options);
}

void check(const std::vector<Measurement>& records) {
  REQUIRE_FALSE(records.empty());
  for (const auto& record : records) {
    INFO(record.subject << ": " << record.metric << ": " << record.reason);
    CHECK(record.status == Status::passed);
  }
}

Network built_in(const std::string& name) {
  return models().at(name).make({{"seed", 1}, {"with_loss", true}});
}

}  // namespace

TEST_CASE("a graph of TensorFlow's computes a network and its gradients") {
  for (const char* name : {"lenet", "mlp", "resnet-20"}) {
    Network network = built_in(name);
    const ValueMap inputs = random_inputs(network, {.batch = 2});
    const auto reference = make_executor(network.copy());
    const auto subject = graph_executor(network.copy());
    check(test_executor(*subject, *reference, inputs));
    check(test_executor_backprop(*subject, *reference, inputs, "loss"));
  }
}

TEST_CASE("a graph of TensorFlow's refuses a node that it has no translation of, by name") {
  Network network("strange");
  network.add_input("x", DType::float32, {2, 3, 3});
  network.add_node("Det", {"x"}, {"y"}, {}, "volume");
  network.add_output("y");
  const auto run = [&] {
    (void)graph_executor(network)->inference({{"x", Tensor::zeros(DType::float32, {2, 3, 3})}});
  };
  CHECK_THROWS_AS(run(), Unsupported);
  CHECK_THROWS_WITH(run(), Catch::Contains("volume"));
}

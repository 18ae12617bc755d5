// SPDX-License-Identifier: Apache-2.0
// Whole networks as one graph of TensorFlow's.
#include <catch2/catch.hpp>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
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

Tensor numbers(std::initializer_list<float> values) { return Tensor::vector<float>(values); }
float number(const Tensor& tensor) { return tensor.span<float>()[0]; }

/// u = w x, y = c u, z = u u
Network branches() {
  Network network("branches");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", numbers({3}));
  network.add_constant("c", numbers({5}));
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Mul", {"c", "u"}, {"y"});
  network.add_node("Mul", {"u", "u"}, {"z"});
  network.add_node("Relu", {"u"}, {"aside"});
  for (const char* name : {"y", "z", "aside"}) network.add_output(name);
  return network;
}
const ValueMap kTwo{{"x", numbers({2})}};  // u = 6, y = 30, z = 36

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

TEST_CASE("a graph of TensorFlow's gives the gradient of any tensor") {
  const auto executor =
      graph_executor(branches(), {.gradients = {"x", "w", "c", "u", "y", "aside"}});
  for (int run = 0; run < 2; ++run) {
    const ValueMap& outputs = executor->inference_and_backprop(kTwo, "z");
    CHECK(number(outputs.at("z").tensor()) == 36);
    CHECK(number(executor->gradient("u")) == 12);
    CHECK(number(executor->gradient("w")) == 24);  // 2 u x
    CHECK(number(executor->gradient("x")) == 36);  // 2 u w
    for (const char* name : {"c", "y", "aside"}) CHECK(number(executor->gradient(name)) == 0);
  }
}

TEST_CASE("a graph of TensorFlow's sees parameters that changed") {
  Network network = branches();
  const auto executor = graph_executor(network);
  CHECK(number(executor->inference(kTwo).at("y").tensor()) == 30);
  network.feed("w", numbers({4}));
  CHECK(number(executor->inference(kTwo).at("y").tensor()) == 40);
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

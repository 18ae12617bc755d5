// SPDX-License-Identifier: Apache-2.0
// oneDNN's layouts are kept between its nodes, and only there.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/level1_network/layout_networks.hpp"

using namespace d5;
using namespace d5::test;

namespace {

/// The executed nodes, in order.
class Steps final : public ExecutionEvent {
 public:
  std::vector<std::string> names;
  void before_node(const StepInfo& step) override { names.push_back(step.node.op_type); }
};

}  // namespace

TEST_CASE("blocked layouts stay from node to node: parameters are reordered once, the end once") {
  Network network = images();
  network.add_output("c3");
  const auto steps = std::make_shared<Steps>();
  const auto executor = make_executor(network, {.frameworks = {"onednn"}});
  executor->events().add(steps);
  (void)executor->inference(fed());
  steps->names.clear();
  expect_close(executor->inference(fed()).at("c3").tensor(), by_reference(network, "c3"));
  // The input and the output are row-major; nothing in between is reordered.
  CHECK(steps->names == std::vector<std::string>{"Reorder", "Conv", "Relu", "MaxPool", "Conv",
                                                 "BatchNormalization", "Add", "Concat", "Conv",
                                                 "Reorder"});
}

TEST_CASE("weights that were changed are seen by the next run") {
  Network network = images();
  network.add_output("c3");
  const auto executor = make_executor(network, {.frameworks = {"onednn"}});
  (void)executor->inference(fed());
  for (const char* name : {"c1.w", "c3.w"}) {
    network.feed(name, random_tensor(network.parameter(name).value.shape(), 99));
  }
  expect_close(executor->inference(fed()).at("c3").tensor(), by_reference(network, "c3"));
}

TEST_CASE("a framework that knows no layouts of oneDNN's is given rows") {
  Network network = images();
  network.add_node("Softsign", {"a2"}, {"s"});  // the reference's
  network.add_node("Add", {"s", "a2"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(network, {.frameworks = {"onednn", "reference"}});
  expect_close(executor->inference(fed()).at("y").tensor(), by_reference(network, "y"));
}

TEST_CASE("channels that fill no whole block are padded, and the padding is nowhere seen") {
  Network network("odd");
  network.add_input("x", DType::float32, {2, 16, 12, 12});
  add_conv(network, "x", "c1", 16, 19);
  network.add_node("Sigmoid", {"c1"}, {"s"});  // padding must not become 0.5
  add_conv(network, "s", "c2", 19, 21);
  network.add_node("GlobalAveragePool", {"c2"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(network, {.frameworks = {"onednn"}});
  expect_close(executor->inference(fed()).at("y").tensor(), by_reference(network, "y"));
}

TEST_CASE("training has rows alone, and the reference's gradients") {
  Network network = images();
  network.add_node("ReduceMean", {"c3"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const Network other = network.copy();
  const auto executor = make_executor(network, {.frameworks = {"onednn", "reference"}});
  Network judged = other;
  const auto judge = make_executor(judged, {});
  (void)executor->inference_and_backprop(fed(), "loss");
  (void)judge->inference_and_backprop(fed(), "loss");
  for (const char* name : {"c1.w", "c1.b", "c2.w", "scale", "c3.w"}) {
    INFO(name);
    expect_close(network.parameter(name).gradient, judged.parameter(name).gradient);
  }
}

TEST_CASE("each primitive is a span, with its implementation and the layouts of its arguments") {
  Network network = images();
  network.add_output("c3");
  const auto executor = make_executor(network, {.frameworks = {"onednn"}});
  (void)executor->inference(fed());
  Trace::start();
  (void)executor->inference(fed());
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  int convolutions = 0;
  for (const TraceRecord& record : timeline.records) {
    if (record.level != "primitive" || record.name != "convolution") continue;
    ++convolutions;
    REQUIRE_FALSE(record.arguments.empty());
    CHECK(record.arguments[0].name == "implementation");
    CHECK(record.arguments[1].name == "src");
  }
  CHECK(convolutions == 3);
}

TEST_CASE("gates of recurrent layers are ordered once, and again when weights have changed") {
  struct Layer {
    const char* op_type;
    std::int64_t gates;
  };
  for (const auto& [op_type, gates] : {Layer{"RNN", 1}, Layer{"GRU", 3}, Layer{"LSTM", 4}}) {
    INFO(op_type);
    Network network(op_type);
    network.add_input("x", DType::float32, {5, 2, 16});
    network.add_parameter("w", random_tensor({1, gates * 24, 16}, 1));
    network.add_parameter("r", random_tensor({1, gates * 24, 24}, 2));
    network.add_parameter("b", random_tensor({1, 2 * gates * 24}, 3));
    network.add_node(op_type, {"x", "w", "r", "b"}, {"y"}, {{"hidden_size", std::int64_t{24}}});
    network.add_output("y");
    const ValueMap inputs{{"x", random_tensor({5, 2, 16}, 4)}};
    const auto steps = std::make_shared<Steps>();
    const auto executor = make_executor(network, {.frameworks = {"onednn"}});
    const auto judge = make_executor(network.copy());
    executor->events().add(steps);
    (void)executor->inference(inputs);
    steps->names.clear();
    for (const std::uint32_t stream : {5, 6}) {
      expect_close(executor->inference(inputs).at("y").tensor(),
                   judge->inference(inputs).at("y").tensor());
      if (stream == 5) CHECK(steps->names == std::vector<std::string>{op_type});
      for (const char* name : {"w", "b"}) {
        const Tensor value = random_tensor(network.parameter(name).value.shape(), stream);
        network.feed(name, value);
        judge->network().feed(name, value);
      }
    }
  }
}

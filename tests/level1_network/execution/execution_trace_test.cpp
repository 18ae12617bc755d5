// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/execution_trace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

/// loss = relu(w x)
Network one_parameter() {
  Network network("one");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_node("Mul", {"w", "x"}, {"u"}, {}, "product");
  network.add_node("Relu", {"u"}, {"loss"}, {}, "positive");
  network.add_output("loss");
  return network;
}

std::vector<std::string> names(const Timeline& timeline) {
  std::vector<std::string> result;
  for (const auto& record : timeline.records) result.push_back(record.name);
  return result;
}

}  // namespace

TEST_CASE("a run and its steps, forward and backward, are on the trace with their framework") {
  const auto executor = make_executor(one_parameter());
  const ValueMap inputs{{"x", Tensor::of<float>({1}, {2})}};
  (void)executor->inference(inputs);
  Trace::start();
  (void)executor->inference_and_backprop(inputs, "loss");
  (void)executor->inference(inputs);
  Trace::stop();
  (void)executor->inference(inputs);
  const Timeline timeline = Trace::timeline();
  CHECK(names(timeline) == std::vector<std::string>{"inference_and_backprop", "Mul 'product'",
                                                    "Relu 'positive'", "Relu 'positive' backward",
                                                    "Mul 'product' backward", "inference",
                                                    "Mul 'product'", "Relu 'positive'"});
  const TraceRecord& run = timeline.records.front();
  CHECK(run.level == "network");
  CHECK(run.arguments ==
        std::vector<TraceArgument>{{"network", "one"}, {"framework", "reference"}});
  for (std::size_t i = 1; i < 5; ++i) {
    const TraceRecord& step = timeline.records[i];
    CHECK(step.level == "operator");
    CHECK(step.parent == run.id);
    CHECK(step.begin_ns >= run.begin_ns);
    CHECK(step.end_ns <= run.end_ns);
    CHECK(step.arguments.back() == TraceArgument{"framework", "reference"});
  }
}

TEST_CASE("a run that throws leaves no span that later ones are inside") {
  /// Throws in the middle of a run, once.
  struct Interrupts final : ExecutionEvent {
    bool armed = true;
    void after_node(const StepInfo&) override {
      if (std::exchange(armed, false)) throw ValueError("half-way");
    }
  };
  const auto executor = make_executor(one_parameter());
  executor->events().add(std::make_shared<Interrupts>());
  const ValueMap inputs{{"x", Tensor::of<float>({1}, {2})}};
  Trace::start();
  CHECK_THROWS_AS(executor->inference(inputs), ValueError);
  (void)executor->inference(inputs);
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  CHECK(names(timeline) ==
        std::vector<std::string>{"inference", "Mul 'product'", "Relu 'positive'"});
  CHECK(timeline.records.front().parent == 0);
}

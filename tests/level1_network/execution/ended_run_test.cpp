// SPDX-License-Identifier: Apache-2.0
// Runs that an observer ends early.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

Tensor ended_number(float value) { return Tensor::vector<float>({value}); }
float item(const Value& value) { return value.tensor().span<float>()[0]; }

/// a = x + n, b = 2 a, loss = b w; n takes over a after each run.
Network chain() {
  Network network("chain");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", ended_number(3));
  network.add_constant("n", ended_number(1));
  network.add_constant("two", ended_number(2));
  network.add_node("Add", {"x", "n"}, {"a"}, {}, "first");
  network.add_node("Mul", {"a", "two"}, {"b"}, {}, "second");
  network.add_node("Mul", {"b", "w"}, {"loss"}, {}, "third");
  for (const char* name : {"x", "a", "b", "loss"}) network.add_output(name);
  network.add_update("n", "a");
  return network;
}
const ValueMap kFour{{"x", ended_number(4)}};

/// Ends runs after one node in one pass, and notes the calls that it receives.
class EndAfter final : public ExecutionEvent {
 public:
  EndAfter(GraphExecutor& executor, std::string node, Pass pass = Pass::forward)
      : executor_(executor), node_(std::move(node)), pass_(pass) {}
  void before_run(Pass) override { log.push_back("run"); }
  void after_run(Pass) override { log.push_back("end of run"); }
  void before_pass(Pass pass) override { log.push_back(pass == Pass::forward ? "pass" : "back"); }
  void after_pass(Pass) override { log.push_back("end of pass"); }
  void before_node(const StepInfo& step) override { log.push_back(step.node.name); }
  void after_node(const StepInfo& step) override {
    if (wants && step.node.name == node_ && step.pass == pass_) executor_.end_run();
  }
  std::vector<std::string> log;
  bool wants = true;

 private:
  GraphExecutor& executor_;
  std::string node_;
  Pass pass_;
};

}  // namespace

TEST_CASE("a run ends after the step under way, with the outputs that were computed") {
  const auto executor = make_executor(chain());
  const auto observer = std::make_shared<EndAfter>(*executor, "second");
  executor->events().add(observer);
  const ValueMap outputs = executor->inference(kFour);
  CHECK(executor->ended_early());
  CHECK(outputs.size() == 3);
  CHECK(item(outputs.at("x")) == 4);
  CHECK(item(outputs.at("a")) == 5);
  CHECK(item(outputs.at("b")) == 10);
  CHECK(item(executor->network().fetch("n")) == 1);  // no update of half a run
  CHECK(observer->log ==
        std::vector<std::string>{"run", "pass", "first", "second", "end of pass", "end of run"});

  observer->wants = false;
  CHECK(item(executor->inference(kFour).at("loss")) == 30);
  CHECK_FALSE(executor->ended_early());
  CHECK(item(executor->network().fetch("n")) == 5);
}

TEST_CASE("the end of the last step ends nothing early") {
  const auto executor = make_executor(chain());
  executor->events().add(std::make_shared<EndAfter>(*executor, "third"));
  CHECK(executor->inference(kFour).size() == 4);
  CHECK_FALSE(executor->ended_early());
  (void)executor->inference_and_backprop(kFour, "loss");
  CHECK(executor->ended_early());  // backward was to come
  CHECK_THROWS_AS(executor->gradient("w"), NotFound);
}

TEST_CASE("backward ends early, too, and says so") {
  const auto executor = make_executor(chain(), {.gradients = {"x"}});
  const auto observer = std::make_shared<EndAfter>(*executor, "third", Pass::backward);
  executor->events().add(observer);
  const ValueMap& outputs = executor->inference_and_backprop(kFour, "loss");
  CHECK(executor->ended_early());
  CHECK(outputs.size() == 4);
  CHECK_THROWS_AS(executor->gradient("x"), NotFound);
  CHECK(observer->log == std::vector<std::string>{"run", "pass", "first", "second", "third",
                                                  "end of pass", "back", "third", "end of pass",
                                                  "end of run"});
  observer->wants = false;
  (void)executor->inference_and_backprop(kFour, "loss");
  CHECK(item(Value(executor->gradient("x"))) == 6);
}

TEST_CASE("a batch in flight that ended early does not go back") {
  const auto executor = make_executor(chain());
  const auto observer = std::make_shared<EndAfter>(*executor, "first");
  executor->events().add(observer);
  const auto batch = executor->forward(kFour, {"loss"});
  CHECK(batch->outputs().size() == 2);
  CHECK_THROWS_AS(batch->backward({{"loss", ended_number(1)}}), ValueError);
}

TEST_CASE("to end a run outside of one does nothing") {
  const auto executor = make_executor(chain());
  executor->end_run();
  CHECK(executor->inference(kFour).size() == 4);
  CHECK_FALSE(executor->ended_early());
}

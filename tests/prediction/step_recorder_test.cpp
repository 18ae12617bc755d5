// SPDX-License-Identifier: Apache-2.0
#include "prediction/profile/step_recorder.hpp"

#include <catch2/catch.hpp>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/stream.hpp"

namespace d5 {
namespace {

/// Two parameters and two nodes, for an executor that is played.
struct PlayedExecutor {
  onnx::Node nodes[2];
  std::vector<Parameter> parameters{{"w2", Tensor::zeros(DType::float32, {2}), {}},
                                    {"w1", Tensor::zeros(DType::float32, {1}), {}}};
  StepRecorder recorder;

  PlayedExecutor() {
    for (Parameter& parameter : parameters) parameter.gradient = parameter.value.copy();
    nodes[0].op_type = nodes[1].op_type = "Gemm";
    recorder.start(now_seconds());
  }
  void run(std::size_t node, Pass pass) {
    const StepInfo step{.node = nodes[node], .path = node == 0 ? "l1" : "l2", .pass = pass};
    steps.push_back(std::make_unique<StepInfo>(step));
    recorder.before_node(*steps.back());
    recorder.after_node(*steps.back());
  }
  void announce(std::size_t parameter) {
    recorder.gradient_ready(parameters[parameter], parameter, host_stream());
  }
  std::vector<std::unique_ptr<StepInfo>> steps;  ///< as long as a plan lives
};

std::vector<std::string> words_of(const RecordedStep& step) {
  std::vector<std::string> words;
  for (const auto& piece : step.pieces) {
    std::string word = piece.kind + " " + piece.name;
    for (const std::size_t index : piece.final_parameters) word += " " + std::to_string(index);
    words.push_back(word);
  }
  return words;
}

TEST_CASE("an executor that announces its nodes is cut at these") {
  PlayedExecutor played;
  for (const std::size_t node : {0, 1}) played.run(node, Pass::forward);
  played.recorder.after_pass(Pass::forward);
  played.run(1, Pass::backward);
  played.announce(0);
  played.run(0, Pass::backward);
  played.announce(1);
  played.recorder.after_run(Pass::backward);
  CHECK(words_of(played.recorder.finish(played.parameters)) ==
        std::vector<std::string>{"forward l1", "forward l2", "backward l2 0", "backward l1 1"});
  // Both ends of four nodes, and the end of the run; gradients are final when nodes end.
  CHECK(played.recorder.readings() == 9);
}

TEST_CASE("an executor that announces no node backward is cut where gradients are announced") {
  PlayedExecutor played;
  for (const std::size_t node : {0, 1}) played.run(node, Pass::forward);
  played.recorder.after_pass(Pass::forward);
  for (const std::size_t parameter : {0, 1}) played.announce(parameter);
  played.recorder.after_run(Pass::backward);
  const RecordedStep step = played.recorder.finish(played.parameters);
  CHECK(words_of(step) == std::vector<std::string>{"forward l1", "forward l2", "backward to w2 0",
                                                   "backward to w1 1", "backward rest"});
  CHECK(step.seconds.size() == 5);
}

TEST_CASE("a step without a path has its node's name") {
  PlayedExecutor played;
  played.nodes[0].outputs = {"y"};
  const StepInfo step{.node = played.nodes[0]};
  played.recorder.before_node(step);
  played.recorder.after_node(step);
  played.recorder.after_run(Pass::forward);
  CHECK(played.recorder.finish({}).pieces.front().name == "y");
}

TEST_CASE("one that announces no node at all has its forward pass in one piece") {
  PlayedExecutor played;
  played.recorder.after_pass(Pass::forward);
  for (const std::size_t parameter : {0, 1}) played.announce(parameter);
  played.recorder.after_run(Pass::backward);
  CHECK(words_of(played.recorder.finish(played.parameters)).front() == "forward forward");
}

TEST_CASE("one that announces nothing to cut at, or not every gradient, is refused") {
  PlayedExecutor played;
  played.run(0, Pass::forward);
  played.run(0, Pass::backward);
  played.announce(0);
  played.recorder.after_run(Pass::backward);
  CHECK_THROWS_AS(played.recorder.finish(played.parameters), Unsupported);
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// A time of an operator counts if it answered right.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

using namespace d5;
using Catch::Contains;

namespace {

struct Fault {
  float forward = 1, backward = 1;
  int right_runs = 0;  ///< before the first wrong one
};

/// tanh(x) and its gradient, times what the fault says.
class OffTanh final : public Kernel {
 public:
  explicit OffTanh(Fault fault) : fault_(fault) {}
  void forward(OpContext& context) override {
    const bool still_right = runs_++ < fault_.right_runs;
    const auto x = context.input(0).span<float>();
    float* y = context.output(0).data<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = (still_right ? 1 : fault_.forward) * std::tanh(x[i]);
    }
  }
  void backward(GradContext& context) override {
    const auto x = context.input(0).span<float>();
    const float* slope = context.grad_output(0).data<float>();
    float* gradient = context.grad_input(0).data<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float y = std::tanh(x[i]);
      gradient[i] = fault_.backward * slope[i] * (1 - y * y);
    }
  }

 private:
  Fault fault_;
  int runs_ = 0;
};

std::vector<Measurement> bench_tanh(const std::string& name, Fault fault) {
  add_framework(name, "1", [&](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel<onnx::nodes::Tanh>(
        [fault](PlanContext&) { return std::make_unique<OffTanh>(fault); });
  });
  return bench("Tanh 1000", {.frameworks = {name, "reference"}, .measuring = {.samples = 5}});
}

std::string answers_of(const std::vector<Measurement>& records, const std::string& framework,
                       const std::string& pass) {
  for (const auto& record : records) {
    if (record.framework != framework || record.metric != "time") continue;
    if (record.conditions.at("pass") == pass) return record.conditions.at("answers").text();
  }
  return "";
}

}  // namespace

TEST_CASE("an operator's pass is judged by itself: outputs forward, gradients backward") {
  const auto forward = bench_tanh("off-forward", {.forward = 1.01F});
  CHECK(answers_of(forward, "off-forward", "forward") == "wrong");
  CHECK(answers_of(forward, "off-forward", "backward") == "right");
  CHECK(answers_of(forward, "reference", "forward") == "right");
  const auto backward = bench_tanh("off-backward", {.backward = 1.01F});
  CHECK(answers_of(backward, "off-backward", "forward") == "right");
  CHECK(answers_of(backward, "off-backward", "backward") == "wrong");
  for (const auto& record : backward) {
    if (record.conditions.at("pass") == "backward" && record.framework == "off-backward") {
      CHECK(record.status == Status::failed);
      CHECK_THAT(record.reason, Contains("wrong answers: gradient of input 0"));
    }
    if (record.metric == "time_ratio") CHECK(record.conditions.at("base") != "");
  }
}

TEST_CASE("what is wrong after some runs alone is found when they are over") {
  const auto records = bench_tanh("off-later", {.forward = 1.01F, .right_runs = 3});
  CHECK(answers_of(records, "off-later", "forward") == "wrong");
  CHECK_THAT(records.front().reason, Contains("right before the clock ran, wrong after it"));
}

TEST_CASE("honest operators raise no alarm, in every pass and type that the reference has") {
  for (const char* line :
       {"Conv 4x3x8x8 5x3x3x3 5", "Gemm 8x4 4x2 2", "Softmax 3x7",
        "MaxPool 2x3x6x6 kernel_shape=2x2", "LayerNormalization 4x8 8 8", "ReduceSum float16:64",
        "MatMul 16x64 64x16", "LSTM 3x2x4 1x20x4 1x20x5", "Dropout 100", "RandomNormalLike 4096",
        "TopK 3x9 int64:{4}", "Cast 8 to=7"}) {
    CAPTURE(line);
    for (const auto& record :
         bench(line, {.passes = BenchOptions::Passes::each, .measuring = {.samples = 1}})) {
      CAPTURE(record.metric, record.reason);
      const auto answers = record.conditions.find("answers");
      if (answers != record.conditions.end()) CHECK(answers->second != "wrong");
    }
  }
}

TEST_CASE("the first framework judges the others if the reference takes too long") {
  for (const auto& [name, fault] :
       {std::pair("first_judge", Fault{}), std::pair("judged_right", Fault{}),
        std::pair("judged_wrong", Fault{.forward = 1.01F, .backward = 1.01F})}) {
    add_framework(name, "1", [fault = fault](Framework& framework) {
      framework.part<OperatorRegistry>().add_kernel<onnx::nodes::Tanh>(
          [fault](PlanContext&) { return std::make_unique<OffTanh>(fault); });
    });
  }
  const auto records =
      bench("Tanh 1000", {.frameworks = {"first_judge", "judged_right", "judged_wrong"},
                          .measuring = {.samples = 5, .judge_seconds = 1e-9}});
  for (const char* pass : {"forward", "backward"}) {
    INFO(pass);
    CHECK(answers_of(records, "first_judge", pass) == "not judged");
    CHECK(answers_of(records, "judged_right", pass) == "right");
    CHECK(answers_of(records, "judged_wrong", pass) == "wrong");
  }
  const auto one = std::ranges::find(records, "first_judge", &Measurement::framework);
  CHECK_THAT(one->conditions.at("judge").text(), Contains("judge_seconds=1e-09"));
  CHECK(std::ranges::find(records, "error", &Measurement::metric) == records.end());
  const auto other = std::ranges::find(records, "judged_right", &Measurement::framework);
  CHECK(other->conditions.at("judge") == "first_judge");
}

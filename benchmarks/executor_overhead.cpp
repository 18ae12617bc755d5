// SPDX-License-Identifier: Apache-2.0
// What a step of the plan costs beyond its operator's arithmetic: chains of operators on one
// element, against the same additions in a plain loop, interleaved. Prints nanoseconds a step.
#include <fmt/format.h>

#include "d5/core/framework.hpp"
#include "d5/core/measurement.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level1_network/framework_overhead.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace {

constexpr int kSteps = 1000;

class IncrementKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    *context.output(0).data<float>() = *context.input(0).data<float>() + 1;
  }
};

/// y = x + 1 on one element: as little arithmetic as an operator can have.
class Increment final : public d5::ElementwiseOperator {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return {context.input(0)};
  }
  std::unique_ptr<d5::Kernel> plan(d5::PlanContext&) const override {
    return std::make_unique<IncrementKernel>();
  }
};

d5::Network chain() {
  d5::Network network("chain");
  network.add_input("x0", d5::DType::float32, {1});
  for (int i = 0; i < kSteps; ++i) {
    network.add_node("Increment", {fmt::format("x{}", i)}, {fmt::format("x{}", i + 1)});
  }
  network.add_output(fmt::format("x{}", kSteps));
  return network;
}

class Silent final : public d5::ExecutionEvent {};

void print(const std::string& name, const d5::Measurement& time, const d5::Measurement& base) {
  const auto steps = d5::summarise(time.samples), plain = d5::summarise(base.samples);
  constexpr double kNanoseconds = 1e9 / kSteps;
  fmt::print("{:40} {:7.2f} ns a step [{:.2f}, {:.2f}], {:7.2f} beyond the arithmetic{}\n", name,
             steps.median * kNanoseconds, steps.median_interval.low * kNanoseconds,
             steps.median_interval.high * kNanoseconds,
             (steps.median - plain.median) * kNanoseconds,
             time.reason.empty() ? "" : " (" + time.reason + ")");
}

}  // namespace

int main() {
  d5::add_framework("tiny", "1", [](d5::Framework& framework) {
    framework.part<d5::OperatorRegistry>().add<Increment>("Increment");
  });
  const d5::ValueMap inputs = {{"x0", d5::Tensor::of<float>({1}, {1})}};
  const auto plain = d5::make_executor(chain(), {.frameworks = {"tiny"}});
  const auto observed = d5::make_executor(chain(), {.frameworks = {"tiny"}});
  const auto timed = d5::make_executor(chain(), {.frameworks = {"tiny"}});
  observed->events().add(std::make_shared<Silent>());
  timed->events().add(std::make_shared<d5::FrameworkOverhead>());

  std::vector<float> values(kSteps + 1, 1.0f);
  volatile float* memory = values.data();
  const auto results = d5::measure_interleaved(
      {{"the additions alone",
        [&] {
          for (int i = 0; i < kSteps; ++i) memory[i + 1] = memory[i] + 1;
        }},
       {"executor", [&] { (void)plain->inference(inputs); }},
       {"executor, an observer without hooks", [&] { (void)observed->inference(inputs); }},
       {"executor, FrameworkOverhead", [&] { (void)timed->inference(inputs); }}},
      {.samples = 101});
  for (const auto& result : results) print(result.subject, result, results.front());
  fmt::print("reading the clock once: {:.2f} ns\n", d5::clock_cost().seconds_per_read * 1e9);
}

// SPDX-License-Identifier: Apache-2.0
// Overhead of a plan's step beyond its operator's arithmetic: chains of a thousand operators on one
// element, compared with the same arithmetic in a plain loop. Also the cost of a thousand trace
// spans, compared with their two clock readings each. A nanosecond per step or span is a
// microsecond here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/execution/framework_overhead.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

constexpr int kSteps = 1000;

struct Step {
  const char* op;
  bool binary;
  float (*arithmetic)(float);
};

d5::Network chain(const Step& step) {
  d5::Network network(step.op);
  network.add_input("x0", d5::DType::float32, {1});
  if (step.binary) network.add_input("one", d5::DType::float32, {1});
  for (int i = 0; i < kSteps; ++i) {
    std::vector<std::string> inputs = {fmt::format("x{}", i)};
    if (step.binary) inputs.emplace_back("one");
    network.add_node(step.op, inputs, {fmt::format("x{}", i + 1)});
  }
  network.add_output(fmt::format("x{}", kSteps));
  return network;
}

d5::Subject arithmetic_alone(const Step& step) {
  const auto values = std::make_shared<std::vector<float>>(kSteps + 1, 1.0f);
  return {.run = [values, arithmetic = step.arithmetic] {
    volatile float* memory = values->data();
    for (int i = 0; i < kSteps; ++i) memory[i + 1] = arithmetic(memory[i]);
  }};
}

d5::Subject executor(const Step& step, const std::shared_ptr<d5::Event>& observer = nullptr) {
  const std::shared_ptr<d5::GraphExecutor> executor = d5::make_executor(chain(step));
  if (observer) executor->events().add(observer);
  d5::ValueMap inputs = {{"x0", d5::Tensor::of<float>({1}, {1})}};
  if (step.binary) inputs["one"] = d5::Tensor::of<float>({1}, {1});
  return {.run = [executor, inputs] { (void)executor->inference(inputs); }};
}

/// A step while a trace is on; a thousand steps share its start and end.
d5::Subject traced(const Step& step) {
  d5::Subject subject = executor(step);
  subject.run = [run = subject.run] {
    d5::Trace::start();
    run();
    d5::Trace::stop();
  };
  return subject;
}

/// Runs `one` a thousand times while a trace is on.
d5::Subject spans(void (*one)()) {
  return {.run = [one] {
    d5::Trace::start();
    for (int i = 0; i < kSteps; ++i) one();
    d5::Trace::stop();
  }};
}

void read_clock_twice() {
  benchmark::DoNotOptimize(d5::Trace::now_ns());
  benchmark::DoNotOptimize(d5::Trace::now_ns());
}
void make_span() { const d5::Span span("torch", "aten::convolution"); }
void make_span_with_arguments() {
  d5::Span span("operator", "Conv 'features/expanded/convolution_3'");
  span.argument("step", 7);
  span.argument("framework", "torch");
}

class Silent final : public d5::ExecutionEvent {};

}  // namespace

int main(int argc, char** argv) {
  static constexpr Step kSteps[] = {{"Add", true, [](float x) { return x + 1; }},
                                    {"Mul", true, [](float x) { return x * 1; }},
                                    {"Relu", false, [](float x) { return std::max(x, 0.0f); }}};
  for (const Step& step : kSteps) {
    d5::benchmarks::add(
        step.op,
        {{"arithmetic", [&step] { return arithmetic_alone(step); }},
         {"executor", [&step] { return executor(step); }},
         {"silent_observer", [&step] { return executor(step, std::make_shared<Silent>()); }},
         {"framework_overhead",
          [&step] { return executor(step, std::make_shared<d5::FrameworkOverhead>()); }},
         {"trace", [&step] { return traced(step); }}});
  }
  d5::benchmarks::add("Span", {{"clock", [] { return spans(read_clock_twice); }},
                               {"span", [] { return spans(make_span); }},
                               {"arguments", [] { return spans(make_span_with_arguments); }}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

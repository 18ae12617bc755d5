// SPDX-License-Identifier: Apache-2.0
// Cost of a step with torch's kernels: a chain of a thousand Adds of one element in d5's plan,
// compared with hand-written calls of at::add_out.
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

constexpr int kSteps = 1000;

d5::Subject by_hand() {
  const c10::InferenceMode inference;
  const auto values = std::make_shared<std::vector<at::Tensor>>();
  for (int i = 0; i <= kSteps; ++i) values->push_back(at::ones({1}));
  return {.run = [values, one = at::ones({1})] {
    const c10::InferenceMode no_autograd;
    for (int i = 0; i < kSteps; ++i) at::add_out((*values)[i + 1], (*values)[i], one);
  }};
}

std::string name(int i) { return "x" + std::to_string(i); }

d5::Subject plan() {
  d5::Network network("chain");
  network.add_input("x0", d5::DType::float32, {1});
  network.add_input("one", d5::DType::float32, {1});
  for (int i = 0; i < kSteps; ++i) {
    network.add_node("Add", {name(i), "one"}, {name(i + 1)});
  }
  network.add_output(name(kSteps));
  const std::shared_ptr<d5::GraphExecutor> executor =
      d5::make_executor(network, {.frameworks = {"torch"}});
  const d5::ValueMap inputs{{"x0", d5::Tensor::of<float>({1}, {1})},
                            {"one", d5::Tensor::of<float>({1}, {1})}};
  return {.run = [executor, inputs] { (void)executor->inference(inputs); }};
}

}  // namespace

int main(int argc, char** argv) {
  (void)d5::framework("torch");  // one library for both
  d5::benchmarks::add("add_of_one_element", {{"by_hand", by_hand}, {"plan", plan}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

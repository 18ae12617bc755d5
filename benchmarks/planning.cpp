// SPDX-License-Identifier: Apache-2.0
// What it takes to plan a network, which happens once for each set of input shapes: operators are
// resolved, kernels planned, memory laid out; nothing runs.
#include <memory>

#include "benchmarks/side_by_side.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/model_source.hpp"

namespace {

/// A new executor each time, for it keeps its plans.
d5::Subject planning(const std::string& model, bool trained) {
  const auto network =
      std::make_shared<d5::Network>(d5::models().at(model).make({{"with_loss", trained}}));
  const auto inputs = std::make_shared<d5::ValueMap>(d5::random_inputs(*network));
  (void)network->parameters();  // laid out once, for all executors
  return {.run = [=] { d5::make_executor(*network)->plan(*inputs, trained ? "loss" : ""); }};
}

}  // namespace

int main(int argc, char** argv) {
  static constexpr const char* kModels[] = {"lenet", "resnet-50", "resnet-152"};
  for (const char* model : kModels) {
    d5::benchmarks::add(model, {{"inference", [=] { return planning(model, false); }},
                                {"training", [=] { return planning(model, true); }}});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

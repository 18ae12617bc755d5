// SPDX-License-Identifier: Apache-2.0
// Time to plan a network, which happens once for each set of input shapes: operators are resolved,
// kernels planned, memory laid out; nothing runs. NAME/auto_measured is the first planning of
// "auto", NAME/auto_kept one with the cached choice, with all frameworks loaded.
#include <memory>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace {

/// Uses a new executor each time, because an executor keeps its plans.
d5::Subject planning(const std::string& model, bool trained) {
  const auto network =
      std::make_shared<d5::Network>(d5::models().at(model).make({{"with_loss", trained}}));
  const auto inputs = std::make_shared<d5::ValueMap>(d5::random_inputs(*network));
  (void)network->parameters();  // laid out once, for all executors
  return {.run = [=] { d5::make_executor(*network)->plan(*inputs, trained ? "loss" : ""); }};
}

void load_frameworks() {
  for (const auto& info : d5::frameworks()) {
    try {
      (void)d5::framework(info.name);
    } catch (const d5::Error&) {  // "auto" goes without it
    }
  }
}

void add_auto(const std::string& model) {
  const auto plan = [model] {
    const d5::Network network(d5::models().at(model).make({}));
    const d5::ValueMap inputs = d5::random_inputs(network);
    return [=] { d5::make_executor(network, {.frameworks = {"auto"}})->plan(inputs, ""); };
  };
  benchmark::RegisterBenchmark((model + "/auto_measured").c_str(),
                               [=](benchmark::State& state) {
                                 load_frameworks();
                                 (void)d5::forget_selections(d5::models().at(model).make({}));
                                 for (auto _ : state) plan()();
                               })
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kSecond);
  benchmark::RegisterBenchmark((model + "/auto_kept").c_str(),
                               [=](benchmark::State& state) {
                                 load_frameworks();
                                 const auto again = plan();
                                 for (auto _ : state) again();
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  static constexpr const char* kModels[] = {"lenet", "resnet-50", "resnet-152"};
  for (const char* model : kModels) {
    d5::benchmarks::add(model, {{"inference", [=] { return planning(model, false); }},
                                {"training", [=] { return planning(model, true); }}});
  }
  for (const char* model : {"lenet", "resnet-18"}) add_auto(model);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

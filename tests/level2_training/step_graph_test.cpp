// SPDX-License-Identifier: Apache-2.0
// A step as a graph against the optimizer that it was made of: the same bits, step by step.
#include "d5/level2_training/step_graph.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "d5/core/error.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level2_training/schedule.hpp"
#include "d5/level2_training/step_modifier.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

Batch batch_of(std::int64_t seed) {
  Batch batch;
  batch.size = 4;
  Tensor images = Tensor::empty(DType::float32, {4, 1, 28, 28});
  for (std::size_t i = 0; i < images.span<float>().size(); ++i) {
    images.span<float>()[i] = float((std::int64_t(i) * 37 + seed * 101) % 255) / 255;
  }
  batch.values["image"] = images;
  batch.values["label"] = Tensor::of<std::int64_t>({4}, {1, 5, 7, seed % 10});
  return batch;
}

std::shared_ptr<Optimizer> lenet(const std::string& name, const Settings& settings = {},
                                 const ExecutorOptions& options = {}) {
  return optimizers().at(name).make(
      make_executor(models().at("lenet").make({{"with_loss", true}, {"seed", 3}}), options), "loss",
      settings);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Parameters, and constants that runs overwrite.
void expect_same_values(Optimizer& optimizer, const StepGraph& graph) {
  Network& trained = optimizer.executor().network();
  for (const Parameter& parameter : trained.parameters()) {
    INFO(parameter.name);
    REQUIRE(same_bits(parameter.value, graph.network().fetch(parameter.name)));
  }
  for (const auto& [constant, output] : trained.updates()) {
    INFO(constant);
    REQUIRE(same_bits(trained.fetch(constant), graph.network().fetch(constant)));
  }
}

/// Some steps, the graph saved and loaded in their midst.
void expect_same_steps(Optimizer& optimizer, int steps = 4) {
  const testing::TemporaryFolder folder;
  StepGraph graph(optimizer);
  expect_same_values(optimizer, graph);
  for (int i = 0; i < steps; ++i) {
    INFO("step " << i + 1);
    const Batch batch = batch_of(i);
    const Value loss = optimizer.step(batch).at(optimizer.loss());
    const ValueMap& outputs = graph.step(batch);
    REQUIRE(same_bits(loss.tensor(), outputs.at(graph.loss()).tensor()));
    expect_same_values(optimizer, graph);
    if (i + 1 != steps / 2) continue;
    const std::string file = folder / "step.onnx";
    graph.save(file);
    graph = StepGraph::load(file, {.frameworks = frameworks_of(optimizer.executor())});
    expect_same_values(optimizer, graph);
    CHECK(graph.steps() == i + 1);
    CHECK(graph.loss() == optimizer.loss());
  }
}

}  // namespace

TEST_CASE("a step of sgd on LeNet is one graph, in memory and in a file") {
  expect_same_steps(*lenet("sgd", {{"learning_rate", 0.1}, {"weight_decay", 0.013}}));
}

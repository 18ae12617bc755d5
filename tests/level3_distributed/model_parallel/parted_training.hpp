// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "level1_network/nodes/identical.hpp"
#include "tests/level3_distributed/shared_folder.hpp"
#include "tests/level3_distributed/this_rank.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A few steps of a small network on digits.
struct PartedRecipe {
  std::string optimizer = "{name: momentum, learning_rate: 0.05}";
  std::string model = "{name: lenet}";
  int batches = 0;  ///< at most; 0: of two epochs, which are 6

  /// The recipe with a section `distributed`: "pipeline", "stages=2".
  [[nodiscard]] Recipe by(const std::string& scheme,
                          const std::vector<std::string>& options = {}) const;
  [[nodiscard]] Recipe alone() const;
};

/// Results of a training on all ranks.
struct PartedTraining {
  std::vector<Measurement> results;
  Network network{"none"};  ///< saved by rank 0, read on every rank

  [[nodiscard]] const Measurement& result(const std::string& metric) const;
  [[nodiscard]] double last(const std::string& metric) const {
    return result(metric).samples.back();
  }
};
[[nodiscard]] PartedTraining trained_by_all(const Recipe& recipe, SessionOptions session = {});
/// The same on this rank alone.
[[nodiscard]] PartedTraining trained_alone(const Recipe& recipe,
                                           std::vector<MetricChoice> metrics = {});

/// The norm of the difference of all parameters relative to their norm. Fails if names or shapes
/// differ.
[[nodiscard]] double distance(Network& network, Network& expected);
/// Whether all parameters and running statistics are the same bits.
[[nodiscard]] bool same_bits(Network& network, Network& expected);

/// The divisors of the number of ranks.
[[nodiscard]] std::vector<int> parts_to_try();

inline Recipe PartedRecipe::alone() const {
  return Recipe::parse(fmt::format(R"(name: tiny
fixed:
  dataset: {{name: mnist, subset: sample, train_samples: 60, test_samples: 22}}
  model: {}
mutable:
  sampler: {{batch_size: 24, tail: keep}}
  optimizer: {}
  training: {{epochs: 2, most_batches: {}, seed: 1, test_batch_size: 5}}
)",
                                   model, optimizer, batches),
                       "tiny.yaml");
}

inline Recipe PartedRecipe::by(const std::string& scheme,
                               const std::vector<std::string>& options) const {
  Recipe recipe = alone();
  recipe.set("distributed.name=" + scheme);
  for (const auto& option : options) recipe.set("distributed." + option);
  return recipe;
}

inline const Measurement& PartedTraining::result(const std::string& metric) const {
  const auto place = std::ranges::find(results, metric, &Measurement::metric);
  REQUIRE(place != results.end());
  return *place;
}

inline PartedTraining trained_by_all(const Recipe& recipe, SessionOptions session) {
  const SharedFolder folder;
  session.save = folder / "trained.onnx";
  PartedTraining training;
  training.results = train(recipe, session, world());
  world()->barrier();
  training.network = Network::load(session.save);
  return training;
}

inline PartedTraining trained_alone(const Recipe& recipe, std::vector<MetricChoice> metrics) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "trained.onnx").string();
  PartedTraining training;
  training.results = TrainingSession(recipe, {.save = file, .metrics = std::move(metrics)}).run();
  training.network = Network::load(file);
  return training;
}

inline double distance(Network& network, Network& expected) {
  REQUIRE(network.parameters().size() == expected.parameters().size());
  double difference = 0, size = 0;
  for (const Parameter& parameter : expected.parameters()) {
    CAPTURE(parameter.name);
    const Tensor& mine = network.parameter(parameter.name).value;
    REQUIRE(mine.desc() == parameter.value.desc());
    for (std::int64_t i = 0; i < mine.elements(); ++i) {
      const double theirs = parameter.value.data<float>()[i];
      difference += std::pow(double(mine.data<float>()[i]) - theirs, 2);
      size += theirs * theirs;
    }
  }
  return std::sqrt(difference / size);
}

inline bool same_bits(Network& network, Network& expected) {
  for (const auto& [name, value] : expected.graph().initializers) {
    if (!identical(network.fetch(name), value)) return false;
  }
  return network.parameters().size() == expected.parameters().size();
}

inline std::vector<int> parts_to_try() {
  std::vector<int> parts;
  for (int k = 1; k <= rank_count; ++k) {
    if (rank_count % k == 0) parts.push_back(k);
  }
  return parts;
}

}  // namespace d5::testing

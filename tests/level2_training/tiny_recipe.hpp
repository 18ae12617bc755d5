// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_session.hpp"

namespace d5::test {

/// LeNet on the first images of the carried sample: three batches.
inline Recipe tiny_recipe(const std::string& acceptable = "") {
  return Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 8}
  optimizer: {name: momentum, learning_rate: 0.05}
  training: {epochs: 1, most_batches: 0, seed: 1}
)" + acceptable,
                       "tiny.yaml");
}

inline const Measurement& record_of(const std::vector<Measurement>& results,
                                    const std::string& metric) {
  for (const Measurement& result : results) {
    if (result.metric == metric) return result;
  }
  throw NotFound("no record of " + metric);
}

inline std::vector<float> weights_of(TrainingSession& session) {
  std::vector<float> all;
  for (const Parameter& parameter : session.network().parameters()) {
    const auto values = parameter.value.span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace d5::test

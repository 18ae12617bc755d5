// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level2_training/training/training_session.hpp"

using namespace d5;

namespace {

constexpr int kTests = 500;

struct Trained {
  double accuracy;  // on kTests images
  std::int64_t refused;
};

/// LeNet after an epoch on the digits that d5 carries.
Trained trained(const std::string& precision, const std::string& modifiers) {
  const Recipe recipe = Recipe::parse(R"(name: mixed
fixed:
  dataset: {name: mnist, subset: sample, test_samples: 500}
  model: {name: lenet}
mutable:
  sampler: {name: shuffle, batch_size: 32}
  optimizer: {name: momentum, learning_rate: 0.02, modifiers: )" +
                                          modifiers + R"(}
  training: {epochs: 1, seed: 1, precision: )" +
                                          precision + "}\n",
                                      "mixed.yaml");
  TrainingSession session(recipe);
  Trained result{};
  for (const Measurement& record : session.run()) {
    if (record.metric == "test_accuracy") result.accuracy = record.samples.back();
    CHECK(record.conditions.contains("precision") == (precision != "float32"));
  }
  for (const Parameter& parameter : session.network().parameters()) {
    CHECK(parameter.value.dtype() == DType::float32);
    CHECK(parameter.gradient.dtype() == DType::float32);
  }
  result.refused = dynamic_cast<ThreeStepOptimizer&>(session.trainer().optimizer()).refused_steps();
  return result;
}

}  // namespace

TEST_CASE("LeNet trains in 16 bits to the accuracy of float32") {
  const double full = trained("float32", "[]").accuracy;
  // Three times what chance makes of so many images.
  const double chance = 3 * std::sqrt(2 * full * (1 - full) / kTests);
  CHECK(full > 0.85);
  CHECK(trained("bfloat16", "[]").accuracy == Approx(full).margin(chance));
  // So large a factor that float16's 65,504 is passed until it has been halved.
  const Trained half = trained("float16", "[{name: loss_scale, initial: 1048576}]");
  CHECK(half.accuracy == Approx(full).margin(chance));
  CHECK(half.refused > 0);
  INFO(half.refused);
  CHECK(half.refused < 20);
}

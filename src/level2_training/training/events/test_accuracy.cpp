// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/classification.hpp"
#include "level2_training/training/test_mean.hpp"

namespace d5 {

void TestAccuracy::resolve_for(const std::string& who, Trainer& trainer) {
  detail::expect_tests(trainer, "metric " + who);
  names_.resolve(trainer, who);
}

void TestAccuracy::before_test(Trainer&) { right_ = seen_ = 0; }

void TestAccuracy::after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
  const auto counts = detail::count_targets(trainer.optimizer().loss_weight(), names_, batch,
                                            outputs, "test_accuracy");
  right_ += counts.right;
  seen_ += counts.seen;
}

void TestAccuracy::after_test(Trainer& trainer) {
  std::array counts{double(right_), double(seen_)};
  trainer.optimizer().agreement().sum(counts);
  if (counts[1] > 0) samples_.push_back(counts[0] / counts[1]);
}

namespace training_metric {

void register_test_accuracy(Registry<MetricEntry>& registry) {
  registry.add("test_accuracy", MetricEntry::with<ClassificationNames>(
                                    "share of correctly classified test samples, per test run",
                                    [](const ClassificationNames& names) {
                                      return std::make_shared<TestAccuracy>(names);
                                    }));
}

}  // namespace training_metric
}  // namespace d5

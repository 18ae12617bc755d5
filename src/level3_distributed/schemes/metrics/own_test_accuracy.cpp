// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "d5/core/measuring/metric.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/classification.hpp"

namespace d5 {
namespace {

/// Test accuracy of each rank's own parameters, for schemes whose ranks differ and whose test runs
/// use the mean. One record for each rank that trains, one sample per test run. Every rank tests
/// all samples, with its own parameters and with the mean.
class OwnTestAccuracy final : public TrainingMetric {
 public:
  explicit OwnTestAccuracy(ClassificationNames names) : names_(std::move(names)) {}
  [[nodiscard]] std::string name() const override { return "own_test_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::accuracy; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  [[nodiscard]] bool wants_whole_tests() const override { return true; }

  /// Called before the mean is in the network.
  void before_test(Trainer& trainer) override {
    GraphExecutor& executor = trainer.optimizer().executor();
    const ModeScope inference(executor, NetworkMode::inference);
    std::int64_t right = 0, seen = 0;
    trainer.test_sampler()->reset(0);
    while (const Batch* batch = trainer.test_sampler()->next()) {
      const ValueMap& outputs = executor.inference(feed_.of(executor.network(), *batch));
      const auto counts = detail::count_targets(trainer.optimizer().loss_weight(), names_, *batch,
                                                outputs, "own_test_accuracy");
      right += counts.right;
      seen += counts.seen;
    }
    if (seen > 0) samples_.push_back(double(right) / double(seen));
  }

 private:
  ClassificationNames names_;
  BatchFeed feed_;
};

}  // namespace

namespace distributed_metric {
void register_own_test_accuracy(Registry<MetricEntry>& registry) {
  registry.add("own_test_accuracy", MetricEntry::with<ClassificationNames>(
                                        "test accuracy of each rank's own parameters",
                                        [](const ClassificationNames& names) {
                                          return std::make_shared<OwnTestAccuracy>(names);
                                        }));
}
}  // namespace distributed_metric

}  // namespace d5

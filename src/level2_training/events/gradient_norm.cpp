// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/gradient_norm.hpp"

#include "d5/level2_training/trainer.hpp"
#include "d5/level2_training/training_metric.hpp"

namespace d5 {
namespace {

/// The Euclidean norm of all gradients together, a sample a step, as the step leaves them in the
/// network: averaged over ranks; a scale on the loss is still in them, clipping may be.
class GradientNorm final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "gradient_norm"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::other; }
  [[nodiscard]] Direction direction() const override { return Direction::neither; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    samples_.push_back(d5::gradient_norm(trainer.optimizer().executor().network()));
  }
};

}  // namespace

namespace training_metric {

void register_gradient_norm(Registry<MetricEntry>& registry) {
  registry.add("gradient_norm",
               MetricEntry::of<GradientNorm>("Euclidean norm of all gradients, a step"));
}

}  // namespace training_metric
}  // namespace d5

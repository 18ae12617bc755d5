// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/loss_curve.hpp"
#include "d5/level2_training/trainer.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"

namespace d5 {

void LossCurve::after_batch(Trainer& trainer, const Batch&, const ValueMap& outputs) {
  samples_.push_back(detail::scalar_loss(outputs, trainer.optimizer().loss()));
}

namespace training_metric {

void register_loss(Registry<MetricEntry>& registry) {
  registry.add("loss", MetricEntry::of<LossCurve>("the loss of every training batch"));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"
#include "level2_training/training/even_batch.hpp"

namespace d5 {

void LossCurve::after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
  Optimizer& optimizer = trainer.optimizer();
  LossWeight& weight = optimizer.loss_weight();
  const bool by_samples = weight.kind() == LossWeight::Kind::samples;
  const double of = !weight.counts(batch)                  ? 0
                    : by_samples && batch.global_size == 0 ? 1
                                                           : weight.of(batch);
  take_part(detail::scalar_loss(outputs, optimizer.loss()), of,
            by_samples && detail::is_even(batch, optimizer.agreement()));
}

void LossCurve::after_training(Trainer& trainer) {
  Optimizer& optimizer = trainer.optimizer();
  const bool adds = optimizer.loss_weight().kind() == LossWeight::Kind::sum;
  join_parts(optimizer.agreement(), adds ? Parts::sum : Parts::mean);
}

namespace training_metric {

void register_loss(Registry<MetricEntry>& registry) {
  registry.add("loss", MetricEntry::of<LossCurve>("training loss of every batch"));
}

}  // namespace training_metric
}  // namespace d5

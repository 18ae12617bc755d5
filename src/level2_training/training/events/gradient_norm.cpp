// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/gradient_norm.hpp"

#include <cmath>
#include <memory>

#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace {

/// The Euclidean norm of the loss's gradient over all parameters, one sample per step. The gradient
/// is that of the mean over the batch, its pieces and all ranks, without loss scaling and before
/// clipping. Under "sam" and "evolution" it is the gradient that these compute and the step uses.
/// For optimizers with a line search it is the gradient at the start of the search. With compressed
/// communication ("compressed", "sparse") it is the received gradient. It is infinite if a gradient
/// is NaN: "loss_scale" skips such a step.
class GradientNorm final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "gradient_norm"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::other; }
  [[nodiscard]] Direction direction() const override { return Direction::neither; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }

  void before_training(Trainer& trainer) override {
    Network& network = trainer.optimizer().executor().network();
    const RankAgreement& ranks = trainer.optimizer().agreement();
    trainer.optimizer().read_gradients(
        [squares = squares_, &network, &ranks](ParameterRange range, double factor) {
          for (std::size_t i = range.begin; i < range.end; ++i) {
            const double square = sum_of_squares(network.parameters()[i].gradient);
            *squares += factor * factor * ranks.share_of(i) * square;
          }
        });
  }
  void before_batch(Trainer&, const Batch&) override { *squares_ = 0; }
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    if (trainer.optimizer().tells_shares())
      *squares_ = trainer.optimizer().agreement().sum(*squares_);
    samples_.push_back(std::isnan(*squares_) ? INFINITY : std::sqrt(*squares_));
  }
  void after_training(Trainer& trainer) override { trainer.optimizer().read_gradients({}); }

 private:
  std::shared_ptr<double> squares_ = std::make_shared<double>(0);  // for the current step
};

}  // namespace

namespace training_metric {

void register_gradient_norm(Registry<MetricEntry>& registry) {
  registry.add("gradient_norm",
               MetricEntry::of<GradientNorm>("Euclidean norm of the loss's gradient, per step"));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "level2_training/training/class_counts.hpp"
#include "level2_training/training/classification.hpp"

namespace d5 {
namespace {

struct BiasOptions {
  std::string label = "label";

  void declare(OptionList& options) {
    options.add("label", label, "field of a batch with the right class");
  }
};

/// P-value of each epoch's class frequencies under the sampler's law (Pearson's chi-squared test);
/// mistrusted if it is too small. If an epoch draws every sample, frequencies are exact and p is 1.
class DatasetBiasPValue final : public TrainingMetric {
 public:
  using Options = BiasOptions;
  explicit DatasetBiasPValue(Options options) : label_(std::move(options.label)) {}
  [[nodiscard]] std::string name() const override { return "dataset_bias_p_value"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::other; }
  [[nodiscard]] Direction direction() const override { return Direction::neither; }
  void resolve(Trainer& trainer) override { detail::resolve_label(label_, trainer, name()); }
  void before_epoch(Trainer&, std::int64_t) override { counts_.clear(); }
  void after_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    detail::count_classes(batch, label_, counts_);
  }
  void after_epoch(Trainer& trainer, std::int64_t) override {
    if (shares_.empty()) shares_ = detail::promised_shares(trainer.train_sampler(), label_);
    const auto fit = detail::goodness_of_fit(counts_, shares_);
    samples_.push_back(fit.p_value);
    largest_ = std::max(largest_, fit.chi_squared);
    counts_.clear();
  }
  void summarise(Measurement& result) const override {
    TrainingMetric::summarise(result);
    if (samples_.empty()) return;
    result.conditions["largest_chi_squared"] = finding(largest_);
    // One false alarm in a million runs, whatever their number of epochs (Bonferroni).
    constexpr double kLeast = 1e-6;
    const double least = std::ranges::min(samples_);
    if (least * double(samples_.size()) >= kLeast) return;
    mistrust(result, fmt::format("the classes are not drawn as the sampler's law says: chi-squared "
                                 "{:.4g}, p = {:.2g} in the worst of {} epochs",
                                 largest_, least, samples_.size()));
  }
  [[nodiscard]] ValueMap state() const override {
    ValueMap state = TrainingMetric::state();
    state["counts"] = Tensor::vector(counts_);
    state["largest"] = Tensor::scalar(largest_);
    return state;
  }
  void restore(const ValueMap& state) override {
    TrainingMetric::restore(state);
    const auto counts = state_entry(state, "counts", "metric " + name()).span<double>();
    counts_.assign(counts.begin(), counts.end());
    largest_ = state_entry(state, "largest", "metric " + name()).item<double>();
  }

 private:
  std::string label_;
  std::vector<double> counts_, shares_;
  double largest_ = 0;
};

}  // namespace

namespace training_metric {

void register_dataset_bias_p_value(Registry<MetricEntry>& registry) {
  registry.add(
      "dataset_bias_p_value",
      MetricEntry::of<DatasetBiasPValue>(
          "p-value of an epoch's class frequencies under the sampler's law (chi-squared test)"));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"

namespace d5 {

void TrainingMetric::summarise(Measurement& result) const {
  result.samples = samples_;
  if (samples_.empty()) {
    result.status = Status::skipped;
    result.reason = "the run ended before there was anything to observe";
  }
  const auto lost = std::ranges::count_if(samples_, [](double x) { return !std::isfinite(x); });
  if (lost > 0) {
    mistrust(result, fmt::format("{} of {} samples are NaN or infinite", lost, samples_.size()));
  }
  for (const auto& doubt : doubts_) mistrust(result, doubt);
}

void TrainingMetric::take_part(double value, double weight, bool alike) {
  samples_.push_back(value);
  weights_.push_back(weight);
  alike_ = alike_ && alike;
}

void TrainingMetric::join_parts(RankAgreement& ranks, Parts how) {
  if (ranks.ranks() == 1 || alike_ || weights_.size() != samples_.size()) return;
  const auto first = std::size_t(joined_), count = samples_.size() - first;
  // In schemes without a common clock ranks may have made different numbers of steps.
  const bool differ = ranks.sum(double(count)) != double(count) * ranks.ranks();
  if (ranks.any(differ)) return;
  std::vector<double> sums;
  for (std::size_t i = first; i < samples_.size(); ++i) {
    const bool counts = weights_[i] != 0;  // otherwise the value may be none
    const double by = how == Parts::sum ? 1.0 / ranks.ranks_of_model() : weights_[i];
    sums.push_back(counts ? samples_[i] * by : 0);
  }
  sums.insert(sums.end(), weights_.begin() + std::ptrdiff_t(first), weights_.end());
  ranks.sum(sums);
  for (std::size_t i = 0; i < count; ++i) {
    samples_[first + i] = how == Parts::sum ? sums[i] : sums[i] / sums[count + i];
  }
  joined_ = std::int64_t(samples_.size());
}

ValueMap TrainingMetric::state() const {
  ValueMap state{{"samples", Tensor::vector(samples_)}};
  if (weights_.empty()) return state;
  state["weights"] = Tensor::vector(weights_);
  state["alike"] = Tensor::scalar(std::int64_t(alike_));
  state["joined"] = Tensor::scalar(joined_);
  return state;
}

void TrainingMetric::restore(const ValueMap& state) {
  const auto values = state_entry(state, "samples", "metric " + name()).span<double>();
  samples_.assign(values.begin(), values.end());
  weights_.clear();
  if (!state.contains("weights")) return;
  const auto weights = state_entry(state, "weights", "metric " + name()).span<double>();
  weights_.assign(weights.begin(), weights.end());
  alike_ = state_entry(state, "alike", "metric " + name()).item<std::int64_t>() != 0;
  joined_ = state_entry(state, "joined", "metric " + name()).item<std::int64_t>();
}

}  // namespace d5

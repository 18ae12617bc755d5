// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/core/measurement.hpp"
#include "d5/level2_training/dataset_metrics.hpp"
#include "level2_training/classification.hpp"

namespace d5 {

// While it counts, `samples_` holds the number of samples of each class.

void DatasetBias::count(const Batch& batch) {
  constexpr std::int64_t kMostClasses = 1'000'000;
  const Tensor& labels = detail::named(batch.values, label_, "dataset_bias: field");
  dispatch(Types<std::int64_t, std::int32_t>{}, labels.dtype(), "dataset_bias", [&]<class T>() {
    for (const std::int64_t label : labels.span<T>()) {
      if (label < 0 || label >= kMostClasses) {
        throw ValueError(fmt::format("dataset_bias: label {} is no class; expected 0 to {}", label,
                                     kMostClasses - 1));
      }
      if (std::size_t(label) >= samples_.size()) samples_.resize(std::size_t(label) + 1);
      ++samples_[std::size_t(label)];
    }
  });
}

void DatasetBias::after_batch(Trainer&, const Batch& batch, const ValueMap&) { count(batch); }

void DatasetBias::summarise(Measurement& result) const {
  TrainingMetric::summarise(result);
  double total = 0;
  for (const double count : samples_) total += count;
  for (double& share : result.samples) share /= total;
  result.conditions["drawn"] = fmt::format("{}", total);
}

namespace training_metric {

void register_dataset_bias(Registry<MetricEntry>& registry) {
  struct Options {
    std::string label = "label";
    void declare(OptionList& options) {
      options.add("label", label, "field of a batch with the right class");
    }
  };
  registry.add("dataset_bias",
               MetricEntry::with<Options>("share of each class among the samples drawn",
                                          [](const Options& options) {
                                            return std::make_shared<DatasetBias>(options.label);
                                          }));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "level2_training/training/class_counts.hpp"
#include "level2_training/training/classification.hpp"

namespace d5 {

// `samples_` holds the number of samples of each class while counting.

void DatasetBias::resolve(Trainer& trainer) { detail::resolve_label(label_, trainer, name()); }

void DatasetBias::count(const Batch& batch) { detail::count_classes(batch, label_, samples_); }

void DatasetBias::after_batch(Trainer&, const Batch& batch, const ValueMap&) { count(batch); }

void DatasetBias::summarise(Measurement& result) const {
  TrainingMetric::summarise(result);
  double total = 0;
  for (const double count : samples_) total += count;
  for (double& share : result.samples) share /= total;
  result.conditions["drawn"] = finding(total);
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
               MetricEntry::with<Options>("share of each class among the drawn samples",
                                          [](const Options& options) {
                                            return std::make_shared<DatasetBias>(options.label);
                                          }));
}

}  // namespace training_metric
}  // namespace d5

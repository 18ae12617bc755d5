// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/sampler.hpp"
#include "d5/level2_training/training_metric.hpp"

namespace d5 {

// Generated: one call a file of the folder.
namespace dataset {
void register_all(Registry<DatasetEntry>& registry);
}
namespace sampler {
void register_all(Registry<SamplerEntry>& registry);
}
namespace optimizer {
void register_all(Registry<OptimizerEntry>& registry);
}
namespace training_metric {
void register_all(Registry<TrainingMetricEntry>& registry);
}

namespace {

template <class Entry>
Registry<Entry> filled(const char* kind, void (*fill)(Registry<Entry>&)) {
  Registry<Entry> registry(kind);
  fill(registry);
  return registry;
}

}  // namespace

Registry<DatasetEntry>& datasets() {
  static auto registry = filled<DatasetEntry>("dataset", dataset::register_all);
  return registry;
}

Registry<SamplerEntry>& samplers() {
  static auto registry = filled<SamplerEntry>("sampler", sampler::register_all);
  return registry;
}

Registry<OptimizerEntry>& optimizers() {
  static auto registry = filled<OptimizerEntry>("optimizer", optimizer::register_all);
  return registry;
}

Registry<TrainingMetricEntry>& training_metrics() {
  static auto registry =
      filled<TrainingMetricEntry>("training metric", training_metric::register_all);
  return registry;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/framework.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "level2_training/optimization/taken_options.hpp"

namespace d5 {

// Generated: one call per file of the folder.
namespace training_metric {
void register_all(Registry<MetricEntry>& registry);
}

DatasetPair open_dataset(std::string_view name, const Settings& settings,
                         const Interrupt& interrupt) {
  const DatasetEntry& entry = datasets().at(name);
  Settings own = settings;
  const auto steps = detail::take_options<StepOptions>(own);
  return with_steps(entry.make(interrupt, own), steps);
}

const OptimizerEntry& find_optimizer(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return optimizers().at(name);
  return framework(name.substr(0, slash)).part<NativeOptimizers>().at(name.substr(slash + 1));
}

void detail::add_training_metrics(Registry<MetricEntry>& registry) {
  training_metric::register_all(registry);
}

}  // namespace d5

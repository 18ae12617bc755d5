// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/metric.hpp"

#include "d5/core/entries/entry_words.hpp"

namespace d5 {

namespace metric {
void register_all(Registry<MetricEntry>& registry);  // generated from the files in metrics/
}

namespace {

void add_all(Registry<MetricEntry>& registry) {
  metric::register_all(registry);
  for (auto* add : {&detail::add_network_metrics, &detail::add_training_metrics,
                    &detail::add_distributed_metrics}) {
    if (add) add(registry);
  }
}

}  // namespace

Registry<MetricEntry>& metrics() {
  static Registry<MetricEntry> registry("metric", add_all);
  return registry;
}

MetricChoice::MetricChoice(const std::string& text) {
  EntryChoice choice = entry_of_words("metric", text);
  name_ = std::move(choice.name);
  settings_ = std::move(choice.settings);
}

MetricChoice::MetricChoice(std::string name, Settings settings)
    : name_(std::move(name)), settings_(std::move(settings)) {}

std::string MetricChoice::to_line() const { return to_words({name_, settings_}); }

std::shared_ptr<Metric> MetricChoice::make() const {
  if (make_) return make_();
  return metrics().at(name_).make(settings_);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/metric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"

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

MetricChoice::MetricChoice(const std::string& text) : name_(text.substr(0, text.find(':'))) {
  for (std::size_t colon = name_.size(); colon < text.size();) {
    const std::size_t next = std::min(text.find(':', colon + 1), text.size());
    const std::string setting = text.substr(colon + 1, next - colon - 1);
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ValueError(fmt::format("metric '{}': expected NAME[:KEY=VALUE]..., found '{}'",
                                   printable(text), printable(setting)));
    }
    settings_.set(setting.substr(0, equals), setting.substr(equals + 1));
    colon = next;
  }
}

MetricChoice::MetricChoice(std::string name, Settings settings)
    : name_(std::move(name)), settings_(std::move(settings)) {}

std::string MetricChoice::to_line() const {
  std::string line = name_;
  for (const auto& [key, value] : settings_.values()) line += fmt::format(":{}={}", key, value);
  return line;
}

std::shared_ptr<Metric> MetricChoice::make() const {
  if (make_) return make_();
  return metrics().at(name_).make(settings_);
}

}  // namespace d5

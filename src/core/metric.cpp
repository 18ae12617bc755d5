// SPDX-License-Identifier: Apache-2.0
#include "d5/core/metric.hpp"

namespace d5 {

namespace metric {
void register_all(Registry<MetricEntry>& registry);  // generated from the files in metrics/
}

Registry<MetricEntry>& metrics() {
  static Registry<MetricEntry> registry("metric", metric::register_all);
  return registry;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/metric.hpp"

namespace d5 {

namespace distributed_metric {
void register_all(Registry<MetricEntry>& registry);  // generated from the files in metrics/
}

void detail::add_distributed_metrics(Registry<MetricEntry>& registry) {
  distributed_metric::register_all(registry);
}

}  // namespace d5

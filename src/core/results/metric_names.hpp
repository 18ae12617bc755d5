// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Unambiguous names of metrics: "latency", or "latency p99" if there are several statistics of it.
class MetricNames {
 public:
  void add(const Measurement& record) {
    if (!record.samples.empty()) statistics_[record.metric].insert(to_string(record.statistic));
  }
  /// The name for an added record.
  [[nodiscard]] std::string of(const Measurement& record) const {
    const auto found = statistics_.find(record.metric);
    const bool several = found != statistics_.end() && found->second.size() > 1;
    return several && !record.samples.empty() ? record.metric + " " + to_string(record.statistic)
                                              : record.metric;
  }

 private:
  std::map<std::string, std::set<std::string>> statistics_;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/accuracy_record.hpp"

#include <numeric>
#include <vector>

#include "core/results/record_estimate.hpp"
#include "core/statistics/bootstrap.hpp"

namespace d5::detail {

Measurement accuracy_record(const std::string& metric) {
  Measurement record;
  record.metric = metric;
  record.unit = "1";
  record.quantity = Quantity::accuracy;
  record.direction = Direction::higher_is_better;
  return record;
}

Measurement accuracy_record(const std::string& metric, std::size_t samples,
                            const std::function<double(std::span<const std::size_t>)>& statistic) {
  Measurement record = accuracy_record(metric);
  record.statistic = {.of = Statistic::Of::single};
  std::vector<std::size_t> all(samples);
  std::iota(all.begin(), all.end(), std::size_t{0});
  record.samples = {statistic(all)};
  record.conditions["judged samples"] = finding(samples);
  set_interval(record, bootstrap_interval(samples, statistic));
  return record;
}

}  // namespace d5::detail

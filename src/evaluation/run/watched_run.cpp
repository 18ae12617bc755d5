// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/watched_run.hpp"

#include "core/measuring/trust.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

WatchedRun::WatchedRun(const std::string& word) {
  if (find_predictor(word)) return;
  began_ = read_scheduler();
  watch_.emplace();
}

std::vector<std::string> WatchedRun::end() {
  if (!watch_) return {};
  return disturbances(watch_->evidence(waited_between(began_, read_scheduler())));
}

void mistrust_times(std::span<Measurement> records, std::span<const std::string> reasons) {
  for (Measurement& record : records) {
    if (!is_disturbed(record.quantity) && record.quantity != Quantity::share) continue;
    for (const std::string& reason : reasons) mistrust(record, reason);
  }
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/watched_run.hpp"

#include <algorithm>

#include "core/measuring/trust.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

WatchedRun::WatchedRun(std::initializer_list<std::string> words) {
  const auto waits = [](const std::string& word) { return find_predictor(word) != nullptr; };
  if (!std::ranges::all_of(words, waits)) watch_.emplace();
}

std::vector<std::string> WatchedRun::end() {
  if (!watch_) return {};
  return disturbances(watch_->evidence());
}

void mistrust_times(std::span<Measurement> records, std::span<const std::string> reasons) {
  for (Measurement& record : records) {
    if (!is_disturbed(record.quantity) && record.quantity != Quantity::share) continue;
    for (const std::string& reason : reasons) mistrust(record, reason);
  }
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/kept_runs.hpp"

#include <algorithm>

#include "d5/core/results/environment.hpp"

namespace d5 {

KeptRuns::KeptRuns(const std::string& file, const std::string& how, bool resume)
    : all_{environment(), {}, PiecewiseRun{.how = how}} {
  using enum ResultJournal::Begin;
  if (file.empty()) return;
  journal_ = std::make_unique<ResultJournal>(file, how, resume ? resumed : anew);
}

std::vector<Measurement> KeptRuns::records_of(const std::string& run,
                                              const std::function<std::vector<Measurement>()>& make,
                                              const std::function<bool()>& is_cut_short) {
  const auto* done = journal_ ? journal_->find(run) : nullptr;
  auto records = done ? *done : make();
  if (!journal_) return records;
  if (!done) {
    if (is_cut_short && is_cut_short()) return records;
    journal_->add(run, records);
  }
  runs_.emplace_back(run, records);
  return records;
}

void KeptRuns::finish(const std::vector<Measurement>& joined, ResultJournal::End end,
                      const std::vector<std::string>& order) {
  if (!journal_) return;
  std::ranges::stable_sort(runs_, {}, [&](const auto& run) {
    return std::ranges::find(order, run.first) - order.begin();
  });
  for (const auto& [run, records] : runs_) {
    all_.run->pieces.push_back({run, records.size()});
    all_.measurements.insert(all_.measurements.end(), records.begin(), records.end());
  }
  all_.measurements.insert(all_.measurements.end(), joined.begin(), joined.end());
  journal_->finish(all_, end);
}

}  // namespace d5

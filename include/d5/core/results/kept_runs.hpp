// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/results/result_journal.hpp"

namespace d5 {

/// Runs whose records are kept in a results file, each when it is done, so that a later call goes
/// on behind them.
///
///     KeptRuns kept("study.json", "d5 scale lenet", true);
///     const auto records = kept.records_of("2 ranks, seed 1", [&] { return train(2, 1); });
///     kept.finish(joined, ResultJournal::End::whole);
///
/// Throws: as `ResultJournal`.
class KeptRuns {
 public:
  /// `file` may be empty: nothing is kept. `how`: what a run that goes on must have in common.
  KeptRuns(const std::string& file, const std::string& how, bool resume);

  /// Those of `run` that the file has, or what `make` returns. They are kept, unless `is_cut_short`
  /// then says that the run did not come to its end.
  std::vector<Measurement> records_of(const std::string& run,
                                      const std::function<std::vector<Measurement>()>& make,
                                      const std::function<bool()>& is_cut_short = {});
  /// Writes all that are kept, and behind them `joined`: those that `order` names in its order,
  /// then the others in that in which they were asked for.
  void finish(const std::vector<Measurement>& joined, ResultJournal::End end,
              const std::vector<std::string>& order = {});

 private:
  Results all_;
  std::vector<std::pair<std::string, std::vector<Measurement>>> runs_;  // as they were asked for
  std::unique_ptr<ResultJournal> journal_;
};

}  // namespace d5

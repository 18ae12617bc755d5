// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/results/result_journal.hpp"

namespace d5 {

/// Stores the records of each run in a results file as soon as the run is done, so that a later
/// call resumes after the last one.
///
///     KeptRuns kept("study.json", "d5 scale lenet", true);
///     const auto records = kept.records_of("2 ranks, seed 1", [&] { return train(2, 1); });
///     kept.finish(joined, ResultJournal::End::whole);
///
/// Throws: as `ResultJournal`.
class KeptRuns {
 public:
  /// `file` may be empty: nothing is stored. `how`: options that a resumed run must share.
  KeptRuns(const std::string& file, const std::string& how, bool resume);

  /// The stored records of `run`, or those that `make` returns. New records are stored, unless
  /// `is_cut_short` then reports that the run did not finish.
  std::vector<Measurement> records_of(const std::string& run,
                                      const std::function<std::vector<Measurement>()>& make,
                                      const std::function<bool()>& is_cut_short = {});
  /// Writes the stored records: first the runs in `order`, then the others in the order of their
  /// calls, and finally `joined`.
  void finish(const std::vector<Measurement>& joined, ResultJournal::End end,
              const std::vector<std::string>& order = {});

 private:
  Results all_;
  std::vector<std::pair<std::string, std::vector<Measurement>>> runs_;  // in the order of calls
  std::unique_ptr<ResultJournal> journal_;
};

}  // namespace d5

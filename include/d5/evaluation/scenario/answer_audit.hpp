// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

struct AuditOptions {
  ScenarioOptions run = {};    ///< seed, patience, clock and interrupt of its runs
  std::int64_t samples = 100;  ///< samples that are repeated; all of a smaller data set
  double most_different = 0;   ///< share of answers that may differ when timed
  /// A repetition must take at least this share of a first time; below it, the result counts as
  /// cached.
  double least_ratio = 0.9;
  /// Whether two answers to one sample are equal; empty: compare bytes.
  std::function<bool(std::span<const std::byte>, std::span<const std::byte>)> same = {};
};

/// Checks that a system computes its answers. Returns two records:
///
/// - "answers_differ": the share of samples whose answer differs between a timed run and the
///   accuracy run; failed above the allowed share.
/// - "repeat_ratio": the time of a repeated sample over that of a new one, in turns; failed if the
///   99.9% interval of the median is below the allowed ratio: the system returns cached results.
///
/// After MLPerf's compliance tests TEST01 and TEST04, except that samples take turns, while those
/// compare two runs. Audit a system first: one that has answered before has no new samples.
[[nodiscard]] std::vector<Measurement> audit_answers(SystemUnderTest& system,
                                                     const AuditOptions& options = {});

}  // namespace d5

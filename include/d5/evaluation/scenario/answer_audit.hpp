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
  std::int64_t samples = 100;  ///< that are asked for again; of a smaller data set all
  double most_different = 0;   ///< share of answers that may differ when timed
  /// A repetition may take this share of a first time or more; below it is taken for remembered.
  double least_ratio = 0.9;
  /// Whether two answers to one sample are the same; empty: to the byte.
  std::function<bool(std::span<const std::byte>, std::span<const std::byte>)> same = {};
};

/// Looks whether a system computes what it answers. Two records:
///
/// - "answers_differ": the share of samples that it answers otherwise when it is timed than when
/// its
///   accuracy is looked at; failed above what may differ: it lies.
/// - "repeat_ratio": the time of a sample that was asked for before over that of a sample that was
///   not, in turns; failed if the 99.9% interval of the median lies below what is allowed: it
///   remembers.
///
/// After MLPerf's compliance tests TEST01 and TEST04, except that samples are asked for in turns,
/// where those compare two runs. A system that has answered before has nothing new to be asked: it
/// is audited first.
[[nodiscard]] std::vector<Measurement> audit_answers(SystemUnderTest& system,
                                                     const AuditOptions& options = {});

}  // namespace d5

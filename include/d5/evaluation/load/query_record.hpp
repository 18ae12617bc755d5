// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// What became of one sample that was asked for.
///
/// Units: nanoseconds on the monotonic clock, as `Trace::now_ns`; 0: it never was.
struct QueryRecord {
  std::int64_t id = 0;         ///< counted from 0 in the order of asking
  std::int64_t sample = 0;     ///< of the data set
  std::int32_t batch = 0;      ///< samples that were computed together with it, itself included
  std::int64_t scheduled = 0;  ///< when it ought to be asked
  std::int64_t issued = 0;     ///< when it was
  std::int64_t begun = 0;      ///< when computing it began, as the system says
  std::int64_t ended = 0;      ///< when the answer was there, on the asker's clock
  /// Passed, or failed: a refusal, no answer in time.
  Status status = Status::passed;
  bool operator==(const QueryRecord&) const = default;
};

/// An answer that was kept, for whoever judges it.
struct KeptAnswer {
  std::int64_t id = 0, sample = 0;
  std::vector<std::byte> bytes = {};
  bool operator==(const KeptAnswer&) const = default;
};

}  // namespace d5

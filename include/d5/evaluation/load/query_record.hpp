// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// The record of one queried sample.
///
/// Units: nanoseconds on the monotonic clock, like `Trace::now_ns`; 0: it never happened.
struct QueryRecord {
  std::int64_t id = 0;         ///< counted from 0 in the order of issue
  std::int64_t sample = 0;     ///< number in the data set
  std::int32_t batch = 0;      ///< size of the batch that it was computed in
  std::int64_t scheduled = 0;  ///< scheduled time of issue
  std::int64_t issued = 0;     ///< actual time of issue
  std::int64_t begun = 0;      ///< start of its computation, as reported by the system
  std::int64_t ended = 0;      ///< arrival of the answer, on the scenario's clock
  /// Passed, or failed: refused, or not answered in time.
  Status status = Status::passed;
  bool operator==(const QueryRecord&) const = default;
};

/// A kept answer, to be judged later.
struct KeptAnswer {
  std::int64_t id = 0, sample = 0;
  std::vector<std::byte> bytes = {};
  bool operator==(const KeptAnswer&) const = default;
};

}  // namespace d5

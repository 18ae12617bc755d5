// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// What LoadGen says of a run in its files.
struct LoadGenReport {
  bool summarised = false;  ///< it got as far as its summary
  bool valid = false;
  std::vector<std::string> reasons = {};  ///< recommendations, and what it logs as errors
};

/// From the files that it wrote in `folder`. An accuracy run has no summary. Throws: IoError.
[[nodiscard]] LoadGenReport read_loadgen_report(const std::string& folder);

}  // namespace d5::detail

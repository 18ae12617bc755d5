// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// LoadGen's files about a run.
struct LoadGenReport {
  bool summarised = false;  ///< whether it wrote its summary
  bool valid = false;
  std::vector<std::string> reasons = {};  ///< recommendations and logged errors
};

/// Reads the files in `folder`. An accuracy run has no summary. Throws: IoError.
[[nodiscard]] LoadGenReport read_loadgen_report(const std::string& folder);

}  // namespace d5::detail

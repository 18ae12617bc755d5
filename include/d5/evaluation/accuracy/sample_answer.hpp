// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace d5 {

/// What a pipeline answered for one sample of a data set, kept for whoever looks at what went
/// wrong, or compares two runs sample by sample.
struct SampleAnswer {
  std::int64_t sample = 0;  ///< its number in the data set
  std::string answer = {};  ///< as text: a label, or JSON where it is more
  /// 1 is right, 0 is wrong, between them how nearly; NaN where nobody judged it.
  double score = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace d5 {

/// A pipeline's answer for one sample of a data set, kept to inspect errors and to compare two runs
/// sample by sample.
struct SampleAnswer {
  std::int64_t sample = 0;  ///< number in the data set
  std::string answer = {};  ///< text: a label, or JSON if it is more than that
  /// 1 is right, 0 is wrong; values between are partly right; NaN: not judged.
  double score = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/rate.hpp"

#include "d5/core/results/measurement.hpp"

namespace d5 {

void Rate::summarise(Measurement& result) const {
  if (amount_ > 0) {
    result.samples = samples_;
    return;
  }
  result.status = Status::unsupported;
  result.reason = "the work of one call is not known";
}

}  // namespace d5

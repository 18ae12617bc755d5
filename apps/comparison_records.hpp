// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measurement.hpp"

namespace d5::app {

/// What every record of one subject has in common: level, framework, command and conditions.
void describe(Measurement& record, const Measurement& common);

/// time of `slower_or_faster` / time of `base`, sample by sample: both were taken interleaved. The
/// median of the record is the ratio, its interval the ratio's; conditions name the rank test's p.
[[nodiscard]] Measurement ratio_record(const Measurement& subject, const Measurement& base);

/// `amount` of `unit` was done in each sample of `time`.
[[nodiscard]] Measurement rate_record(const Measurement& time, const std::string& metric,
                                      const std::string& unit, double amount);

}  // namespace d5::app

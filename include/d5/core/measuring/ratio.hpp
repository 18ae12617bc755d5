// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// Names of a ratio's two sides, if neither framework nor subject distinguishes them.
struct RatioNames {
  std::string subject = {}, base = {};
};

/// The record of subject / base, sample by sample; both must be measured interleaved. Its median is
/// the ratio, its interval the ratio's confidence interval. Metric: the subject's with "_ratio".
/// Conditions: "rank test p" and "base": the base's name in `names`, else its framework, or its
/// subject if the frameworks are equal.
///
/// Status: the worse of both, with both reasons; skipped if a side has no samples, with that side's
/// name.
[[nodiscard]] Measurement ratio_record(const Measurement& subject, const Measurement& base,
                                       const RatioNames& names = {});

}  // namespace d5

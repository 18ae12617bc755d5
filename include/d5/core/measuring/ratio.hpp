// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// What tells the two sides of a ratio apart, where it is neither framework nor subject.
struct RatioNames {
  std::string subject = {}, base = {};
};

/// subject / base, sample by sample: both were taken interleaved. The median of the record is the
/// ratio, its interval the ratio's. Metric: the subject's with "_ratio"; conditions: "base" (the
/// base's name in `names`, else its framework, or its subject where the frameworks are the same)
/// and "rank test p".
///
/// It is as far to be trusted as both: the worse status, with both reasons; skipped without samples
/// of both, with the name of who has none.
[[nodiscard]] Measurement ratio_record(const Measurement& subject, const Measurement& base,
                                       const RatioNames& names = {});

}  // namespace d5

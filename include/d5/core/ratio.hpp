// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/measurement.hpp"

namespace d5 {

/// subject / base, sample by sample: both were taken interleaved. The median of the record is the
/// ratio, its interval the ratio's. Metric: the subject's with "_ratio"; conditions: "base" (the
/// base's framework, or its subject where the frameworks are the same) and "rank test p".
///
/// It is as far to be trusted as both: the worse status, with both reasons; skipped without samples
/// of both.
[[nodiscard]] Measurement ratio_record(const Measurement& subject, const Measurement& base);

}  // namespace d5

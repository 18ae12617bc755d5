// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "d5/serving/inference/inference_statistics.hpp"

namespace d5::detail {

/// Statistics of models in Prometheus's text format, version 0.0.4; durations in s.
/// Source: Prometheus, "Exposition formats".
[[nodiscard]] std::string prometheus_text(std::span<const InferenceModelStatistics> models);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mlperf_loadgen/test_settings.h>

#include <cstdint>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::detail {

/// LoadGen's settings; settings that would run for ever or exhaust memory are refused.
struct LoadGenSettings {
  mlperf::TestSettings settings;
  std::int64_t most_samples =
      0;  ///< maximum number of samples that it asks for, all prepared ahead
};

/// `samples` is the number of samples that the system has. Throws: ValueError, IoError,
/// FormatError.
[[nodiscard]] LoadGenSettings loadgen_settings(const LoadGenOptions& loadgen,
                                               const ScenarioOptions& options,
                                               std::int64_t samples);
[[nodiscard]] double loadgen_percentile(const mlperf::TestSettings& settings);

}  // namespace d5::detail

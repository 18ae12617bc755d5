// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/gate.hpp"
#include "d5/core/tensor/device.hpp"

namespace d5 {

struct SubjectComparisonOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< of both, or one of each
  std::int64_t batch = 1;                               ///< of networks
  Device device = {};
  std::vector<MetricChoice> metrics = {"time"};
  MeasureOptions measuring = {};
  double fail_above = 0;  ///< limit of the gate (`measure_until_decided`); 0: none
  int retries = 0;        ///< of an undecided gate, with twice the samples each
  std::function<void(const GateFinding& finding, int retry, int samples)> before_retry = {};
  std::string command_options = {};  ///< at the end of every record's command
};

/// Two operators (cases, as of `bench`), or two networks, run forward now, interleaved: the records
/// of A, those of B, and the ratio of B's time to A's. Without a gate the finding is held.
///
///     compare_subjects("lenet", "lenet", {.frameworks = {"reference", "torch"}});
///
/// One that cannot run has records that say why. Throws: NotFound, FormatError for what is neither
/// an operator's case nor a network; ValueError for several cases, or more than two frameworks.
[[nodiscard]] GatedRecords compare_subjects(const std::string& a, const std::string& b,
                                            const SubjectComparisonOptions& options = {});

}  // namespace d5

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
  std::vector<std::string> frameworks = {"reference"};  ///< one for both, or one for each
  std::int64_t batch = 1;                               ///< batch size of networks
  Device device = {};
  std::vector<MetricChoice> metrics = {"time"};
  MeasureOptions measuring = {};
  double fail_above = 0;  ///< limit of the gate (`measure_until_decided`); 0: no gate
  int retries = 0;        ///< for an undecided gate, each with twice the samples
  std::function<void(const GateFinding& finding, int retry, int samples)> before_retry = {};
  std::string command_options = {};  ///< end of every record's command
};

/// Compares the forward time of two operators (cases, as of `bench`), or of two networks,
/// interleaved. Returns the records of A, those of B, and the ratio of B's time to A's. Without a
/// gate the finding is held.
///
///     compare_subjects("lenet", "lenet", {.frameworks = {"reference", "torch"}});
///
/// A subject that cannot run has records with the reason. Throws: NotFound, FormatError for a word
/// that is neither an operator's case nor a network; ValueError for several cases, or more than two
/// frameworks.
[[nodiscard]] GatedRecords compare_subjects(const std::string& a, const std::string& b,
                                            const SubjectComparisonOptions& options = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5 {

struct CaseReductionProgress;

/// Options of an operator's check.
struct OperatorCheckOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< checked one after another
  bool gradient = true;                                 ///< also run `test_gradient`, on the host
  int repeats = 0;                                      ///< runs of `test_repeatability`; 0: none
  /// Its device, pictures, interrupt and isolation apply to all tests.
  ForwardOptions forward = {};
  std::uint64_t seed = 0;  ///< seed of the directions of gradients
  bool reduce = false;     ///< instead find the smallest case with the same failure (`reduce_case`)
  double reduce_seconds = 600;  ///< time limit of the reduction, per framework
  std::function<void(const CaseReductionProgress&)> on_reduction = {};  ///< called after each try
  std::function<void()> on_framework = {};  ///< called after each framework
  std::string command_options = {};         ///< end of every record's command
};

/// Checks an operator forward and backward: `test_forward`, `test_repeatability` and
/// `test_gradient` of one case in each framework. Forward is skipped without an independent judge:
/// for the reference itself, and for a custom operator without expected values. On a device, the
/// operator's result on the host is the judge.
///
///     check_operator(read_case("Conv 2x3x9x9 4x3x3x3"), {.frameworks = {"torch"}});
///
/// With `reduce`, each framework has one record, "reduced_elements": the number of elements in the
/// inputs of the smallest failing case. It is failed, with the difference as its reason, the case's
/// line as the condition "case" and its check as the command; or passed if no case fails.
///
/// If there are several frameworks, one that throws is a failed record. An interrupt keeps earlier
/// records. Throws: what drawing the case throws, and IoError for a picture.
[[nodiscard]] std::vector<Measurement> check_operator(const CaseLine& line,
                                                      const OperatorCheckOptions& options = {});

}  // namespace d5

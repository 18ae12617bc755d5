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

/// What of an operator is checked, and how closely.
struct OperatorCheckOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< one after the other
  bool gradient = true;                                 ///< `test_gradient` too, on the host
  int repeats = 0;                                      ///< runs of `test_repeatability`; 0: none
  ForwardOptions forward = {};  ///< its device, pictures, interrupt and isolation are of all tests
  std::uint64_t seed = 0;       ///< of the directions of gradients
  bool reduce = false;          ///< instead: the smallest case that fails alike (`reduce_case`)
  double reduce_seconds = 600;  ///< the most that it takes, of one framework
  std::function<void(const CaseReductionProgress&)> on_reduction = {};  ///< called after each try
  std::function<void()> on_framework = {};                              ///< called after each
  std::string command_options = {};  ///< at the end of every record's command
};

/// Whether an operator is right, forward and backward: `test_forward`, `test_repeatability` and
/// `test_gradient` of one case in each framework. Forward of what nobody else has a say in, the
/// reference that is its own judge, an operator of a user's own without expected values, is
/// skipped; on a device what the operator does on the host has a say in it.
///
///     check_operator(read_case("Conv 2x3x9x9 4x3x3x3"), {.frameworks = {"torch"}});
///
/// With `reduce` one record a framework, "reduced_elements": how many elements the inputs of the
/// smallest case have, failed with the difference, its line as the condition "case" and its check
/// as the command; or passed where there is none.
///
/// Of several frameworks one that throws is a failed record; an interrupt keeps what was checked
/// before. Throws: what drawing the case throws, and IoError for a picture.
[[nodiscard]] std::vector<Measurement> check_operator(const CaseLine& line,
                                                      const OperatorCheckOptions& options = {});

}  // namespace d5

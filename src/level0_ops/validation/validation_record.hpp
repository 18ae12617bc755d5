// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::detail {

/// The common part of all records of a validation of `op_case`. `test` is "forward", "gradient" or
/// "repeatability"; `options` are the test's, at the end of the command.
[[nodiscard]] Measurement validation_record(const OperatorCase& op_case, const std::string& subject,
                                            std::string_view test, Device device = {},
                                            const CommandLine& options = {});

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/core/value.hpp"
#include "d5/level0_ops/operator_validation.hpp"

namespace d5 {

/// A record of the metric "error" at level network.
[[nodiscard]] Measurement error_record(std::string subject, std::string framework);

/// `base` with the largest relative error of `got`, passed if every element is within tolerance.
/// `what` names the value: "output y", "gradient of w".
[[nodiscard]] Measurement check_value(const Measurement& base, const std::string& what,
                                      const Value& got, const Value& expected,
                                      ForwardTolerance tolerance);

/// What `body` returns; what it throws becomes one record, unsupported or failed.
[[nodiscard]] std::vector<Measurement> guarded(
    const Measurement& base, const std::function<std::vector<Measurement>()>& body);

}  // namespace d5

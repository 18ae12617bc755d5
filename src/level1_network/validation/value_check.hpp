// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level0_ops/validation/evidence.hpp"

namespace d5 {

/// A record of the metric "error" at level network.
[[nodiscard]] Measurement error_record(std::string subject, std::string framework);

/// `base` with the largest error of `got`, relative to the largest expected number. Passed if every
/// element is within tolerance. `what` names the value: "output y", "gradient of w". Mistrusted if
/// `expected` is not evidence (`detail::weigh_evidence`; a gradient of zeros).
[[nodiscard]] Measurement check_value(
    const Measurement& base, const std::string& what, const Value& got, const Value& expected,
    ForwardTolerance tolerance, detail::Expectation expectation = detail::Expectation::computed);

/// "rtol 0.001, atol 1e-07": the condition "tolerance" of a record.
[[nodiscard]] std::string to_string(ForwardTolerance tolerance);

/// `base`, failed: the named value is missing.
[[nodiscard]] Measurement missing_value(const Measurement& base, const std::string& what);

/// Returns the result of `body`; an exception becomes one record, unsupported or failed.
[[nodiscard]] std::vector<Measurement> guarded(
    const Measurement& base, const std::function<std::vector<Measurement>()>& body);

}  // namespace d5

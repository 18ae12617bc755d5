// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/value_check.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

bool is_zero(const Value& value) {
  const bool is_tensor = value.is_tensor() && value.tensor().defined();
  if (!is_tensor || value.tensor().elements() == 0) return false;
  return compare_values(value, Tensor::zeros(value.tensor().desc()), {0, 0}).equal;
}

}  // namespace

Measurement error_record(std::string subject, std::string framework) {
  Measurement record = d5::error_record();
  record.subject = std::move(subject);
  record.framework = std::move(framework);
  record.level = "network";
  return record;
}

Measurement check_value(const Measurement& base, const std::string& what, const Value& got,
                        const Value& expected, ForwardTolerance tolerance,
                        detail::Expectation expectation) {
  const Difference difference = compare_values(got, expected, tolerance);
  Measurement record = base;
  record.samples = {difference.largest_relative};
  record.conditions["tensor"] = identity(printable(what));
  record.conditions["absolute error"] = aside(difference.largest_absolute);
  if (!difference.equal) {
    record.status = Status::failed;
    record.reason = fmt::format("{}: {}", printable(what), difference.where);
  }
  detail::weigh_evidence(record, printable(what), expected, expectation);
  if (what.starts_with("gradient of ") && is_zero(expected)) {
    const auto elements = expected.tensor().elements();
    detail::mistrust_uncompared(
        record, printable(what),
        fmt::format("the reference's answers are 0 in {} of {} elements: give inputs", elements,
                    elements));
  }
  return record;
}

std::string to_string(ForwardTolerance tolerance) {
  return fmt::format("rtol {}, atol {}", tolerance.relative, tolerance.absolute);
}

Measurement missing_value(const Measurement& base, const std::string& what) {
  Measurement record = base;
  record.conditions["tensor"] = identity(printable(what));
  record.status = Status::failed;
  record.reason = printable(what) + " is missing";
  return record;
}

std::vector<Measurement> guarded(const Measurement& base,
                                 const std::function<std::vector<Measurement>()>& body) {
  Measurement record = base;
  try {
    return body();
  } catch (...) {
    record_failure(record, std::current_exception());
  }
  return {record};
}

}  // namespace d5

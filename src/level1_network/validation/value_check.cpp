// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/value_check.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5 {

Measurement error_record(std::string subject, std::string framework) {
  Measurement record = d5::error_record();
  record.subject = std::move(subject);
  record.framework = std::move(framework);
  record.level = "network";
  return record;
}

Measurement check_value(const Measurement& base, const std::string& what, const Value& got,
                        const Value& expected, ForwardTolerance tolerance) {
  const Difference difference = compare_values(got, expected, tolerance);
  Measurement record = base;
  record.samples = {difference.largest_relative};
  record.conditions["tensor"] = printable(what);
  record.conditions["absolute error"] = fmt::format("{:.3g}", difference.largest_absolute);
  if (!difference.equal) {
    record.status = Status::failed;
    record.reason = fmt::format("{}: {}", printable(what), difference.where);
  }
  return record;
}

std::string to_string(ForwardTolerance tolerance) {
  return fmt::format("rtol {}, atol {}", tolerance.relative, tolerance.absolute);
}

Measurement missing_value(const Measurement& base, const std::string& what) {
  Measurement record = base;
  record.conditions["tensor"] = printable(what);
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

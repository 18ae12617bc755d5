// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/validation_record.hpp"

#include <fmt/format.h>

namespace d5::detail {

Measurement validation_record(const OperatorCase& op_case, const std::string& subject,
                              std::string_view test) {
  Measurement result = error_record();
  result.subject = op_case.line;
  result.command =
      fmt::format("d5 op check '{}' --framework {} --seed {}", op_case.line, subject, op_case.seed);
  result.level = "operator";
  result.framework = subject;
  result.conditions["test"] = test;
  return result;
}

}  // namespace d5::detail

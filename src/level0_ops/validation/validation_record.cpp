// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/validation_record.hpp"

namespace d5::detail {

Measurement validation_record(const OperatorCase& op_case, const std::string& subject,
                              std::string_view test, Device device, const CommandLine& options) {
  Measurement result = error_record();
  result.subject = op_case.line;
  CommandLine line("op check");
  line.word(op_case.full_line()).runs_in({subject}, device).option("--seed", op_case.seed);
  result.command = line.append(options.text()).text();
  result.level = "operator";
  result.framework = subject;
  result.device = to_string(device);
  result.conditions = op_case.sweep.values;
  result.conditions["test"] = identity(test);
  return result;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planned_steps.hpp"

#include "d5/core/errors/error.hpp"

namespace d5 {

TextTable to_table(const std::vector<StepInfo>& steps) {
  TextTable table({"step",
                   "node",
                   "operator",
                   "pass",
                   "framework",
                   "device",
                   "layout",
                   {"memory (B)", TextTable::Align::right}});
  for (const StepInfo& step : steps) {
    table.add({std::to_string(step.step), printable(step.node.name), printable(step.node.op_type),
               step.prepares                ? "before"
               : step.pass == Pass::forward ? "forward"
                                            : "backward",
               std::string(step.framework), to_string(step.device),
               step.layout.empty() ? "rows" : step.layout, std::to_string(step.memory)});
  }
  return table;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/executor_options.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level1_network/auto/auto_executor.hpp"

namespace d5::detail {

ExecutorOptions options_of(GraphExecutor& executor, const std::string& who) {
  const auto* plan = dynamic_cast<PlanExecutor*>(&executor);
  if (auto* fastest = dynamic_cast<AutoExecutor*>(&executor)) plan = &fastest->planned();
  if (!plan) {
    throw Unsupported(fmt::format(
        "{}: {}'s own executor runs whole networks alone; choose frameworks whose kernels d5 runs "
        "(--framework reference)",
        who, executor.framework()));
  }
  if (plan->options().device != Device{}) {
    throw Unsupported(
        fmt::format("{}: the network computes on {}, but its parts do on the host "
                    "alone; leave --device out",
                    who, to_string(plan->options().device)));
  }
  return plan->options();
}

}  // namespace d5::detail

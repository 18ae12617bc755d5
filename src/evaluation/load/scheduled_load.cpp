// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/scheduled_load.hpp"

#include "evaluation/load/load_run.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::detail {

ScenarioResult ask_on_schedule(SystemUnderTest& system, const ScenarioOptions& options,
                               ArrivalStream& arrivals) {
  LoadRun run(system, options, {});
  while (const auto arrival = arrivals.next()) {
    const std::int64_t moment = run.start() + nanoseconds(*arrival);
    if (!run.goes_on(moment) || !run.wait_for_turn(moment)) break;
    run.ask(moment);
  }
  return run.end();
}

}  // namespace d5::detail

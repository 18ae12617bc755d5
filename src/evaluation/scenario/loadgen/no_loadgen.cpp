// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/scenario/loadgen.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5 {

std::string loadgen_version() { return {}; }

ScenarioResult detail::run_loadgen(const LoadGenOptions&, SystemUnderTest&,
                                   const ScenarioOptions&) {
  throw Unsupported(
      "d5 was built without MLPerf's LoadGen; scripts/setup builds it, then build d5 again, or "
      "choose one of d5's own scenarios: closed_loop, batched, poisson");
}

}  // namespace d5

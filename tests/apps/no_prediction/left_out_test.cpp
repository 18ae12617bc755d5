// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program_run.hpp"

using Catch::Contains;
using d5::testing::run_d5;

TEST_CASE("a command of prediction names the option that builds it") {
  const auto run = run_d5("overlap map");
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("command 'overlap' is a part of prediction") &&
                          Contains("-DD5_BUILD_PREDICTION=ON"));
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program_run.hpp"

using Catch::Contains;
using d5::testing::run_d5;

TEST_CASE("a command of evaluation names the option that builds it") {
  const auto run = run_d5("net describe x.onnx");
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("command 'describe' is a part of evaluation") &&
                          Contains("-DD5_BUILD_EVALUATION=ON"));
}

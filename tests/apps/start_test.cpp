// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program_run.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::run_d5;

TEST_CASE("a command loads no library that few commands need") {
  const auto [status, out, files] = run_d5("list metrics", "env LD_DEBUG=files");
  CHECK(status == 0);
  CHECK_THAT(files, Contains("calling init") && Contains("libd5_serving.so"));
  for (const char* library : {"libgrpc", "libcurl", "libpq.so", "libldap"}) {
    CAPTURE(library);
    CHECK_THAT(files, !Contains(library));
  }
}

}  // namespace
}  // namespace d5

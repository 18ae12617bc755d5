// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "d5/core/errors/error.hpp"
#include "serving/agent/child_process.hpp"
#include "tests/apps/program_run.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using detail::ChildProcess;
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

int status_of(ChildProcess& child) {
  while (!child.has_ended()) {
    (void)child.listen();
    usleep(1000);
  }
  return child.exit_status();
}

TEST_CASE("children of a starter run commands, one after the other, and tell how they end") {
  const auto starter = std::make_shared<detail::ChildStarter>(
      std::vector<std::string>{D5_PROGRAM, "start-children"});
  for (int round = 0; round < 2; ++round) {
    ChildProcess right({"d5", "--version"}, {}, starter);
    CHECK(status_of(right) == 0);
    CHECK_THAT(right.all_output(), Contains("d5 "));
    ChildProcess wrong({"d5", "eval", "rum"}, {}, starter);
    CHECK(status_of(wrong) == 2);
    CHECK_THAT(wrong.last_error(), Contains("rum"));
  }
  const testing::TemporaryFolder folder;
  const std::string pipe = folder / "pipe";  // nobody writes to it
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::vector<std::string> endless = {"d5", "eval", "run", "--locked", pipe};
  ChildProcess killed(endless, {}, starter);
  killed.kill();
  CHECK(status_of(killed) == -1);
  CHECK_THAT(killed.reason(), Contains("SIGKILL"));
  const ChildProcess ended_by_its_destructor(endless, {}, starter);
}

TEST_CASE("a process that is no starter starts no children") {
  const auto starter =
      std::make_shared<detail::ChildStarter>(std::vector<std::string>{"/bin/true"});
  CHECK_THROWS_AS(ChildProcess({"d5", "--version"}, {}, starter), IoError);
}

}  // namespace
}  // namespace d5

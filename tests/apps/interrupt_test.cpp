// SPDX-License-Identifier: Apache-2.0
// Ctrl-C ends a command within its piece of work, not after it.
#include <csignal>

#include "d5/core/results.hpp"
#include "tests/apps/background_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::BackgroundRun;
using d5::testing::content_of;
using testing::TemporaryFolder;

namespace {

/// Interrupts a run when its rows tell `row`, and returns its rows.
std::string interrupted(const std::string& arguments, const std::string& row) {
  const TemporaryFolder folder;
  const std::string printed = folder / "printed";
  const int status = BackgroundRun(arguments + " --quiet", printed).end(SIGINT, [&] {
    return content_of(printed).find(row) != std::string::npos;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  return content_of(printed);
}

}  // namespace

TEST_CASE("Ctrl-C ends a check of an operator between two runs") {
  // The gradient of each of 40 inputs takes 20 runs of 40 x 250,000 additions.
  std::string line = "Sum";
  for (int i = 0; i < 40; ++i) line += " 500x500";
  const std::string rows = interrupted("op check 'Relu 8' '" + line + "'", "Relu 8");
  CHECK_THAT(rows, !Contains("gradient of input 39"));
}

TEST_CASE("Ctrl-C ends a check of a network between two operators") {
  // Forward and backward in float32, in float64, and again with rounded numbers.
  const std::string rows = interrupted("net check lenet resnet-50", "lenet");
  CHECK_THAT(rows, !Contains("resnet-50"));
}

TEST_CASE("Ctrl-C ends a measurement between two samples, and they are printed and written") {
  const TemporaryFolder folder;
  const std::string out = folder / "cut.json", printed = folder / "printed";
  // Ten million samples of 0.1 ms would take the minute that is the limit.
  const BackgroundRun run(
      "op bench 'Gemm 64x64 64x64' --pass forward --samples 10000000 --quiet "
      "--most-seconds 60 --out " +
          out,
      printed);
  const int status = run.end(SIGINT, [&] {
    if (!std::filesystem::exists(out + ".journal")) return false;  // it begins now
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return true;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  const Results results = read_results(out);
  REQUIRE_FALSE(results.measurements.empty());
  const Measurement& time = results.measurements.front();
  CHECK(time.status == Status::mistrusted);
  CHECK_THAT(time.reason, Contains("interrupted"));
  CHECK(time.samples.size() < 10'000'000);
  CHECK_THAT(content_of(printed), Contains("interrupted"));
}

// SPDX-License-Identifier: Apache-2.0
// d5 cluster list|show: what their help says, and all-reduces against closed forms.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/background_run.hpp"

using Catch::Contains;
using d5::testing::run_d5;

TEST_CASE("help of the commands of networks teaches by examples") {
  for (const std::string command : {"list", "show"}) {
    const auto help = run_d5("network " + command + " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains("Examples:\n  ") && Contains("d5 cluster " + command));
  }
}

TEST_CASE("cluster show simulates all-reduces on a network") {
  const auto run = run_d5(
      "cluster show ethernet-10g --ranks 2,8 --all-reduce ring --bytes 8MB --model ports "
      "--format json");
  REQUIRE(run.status == 0);
  const auto rows = nlohmann::json::parse(run.out);
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    const double n = std::stod(row.at("ranks").get<std::string>());
    // Time of a step: the latency, both ends' 2 us, and the bytes of a part.
    const double step = 25e-6 + 2 * 2e-6 + 8e6 / n / 1.1e9;
    // 1e-3: what a rank does at one end hides under the bytes of another step.
    CHECK(std::stod(row.at("seconds").get<std::string>()) ==
          Approx(2 * (n - 1) * step).epsilon(1e-3));
  }
}

TEST_CASE("a network that cannot be simulated is refused before anything is printed") {
  const auto unknown = run_d5("cluster show ethernet-10g --ranks 2 --all-reduce rig");
  CHECK(unknown.status == 2);
  CHECK(unknown.out.empty());
  CHECK_THAT(unknown.err, Contains("did you mean ring"));
  CHECK_THAT(run_d5("cluster show ethernet-10g --ranks 0").err, Contains("1 or more"));
  CHECK_THAT(run_d5("cluster show ethernet-10g --ranks 5000").err,
             Contains("has room for 4096 ranks"));
}

// SPDX-License-Identifier: Apache-2.0
// Former words, which the program takes for one release, each with a note.
#include <catch2/catch.hpp>
#include <string>

#include "tests/apps/program_run.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {
namespace {

using Catch::Contains;

TEST_CASE("d5 network is d5 cluster, with a note") {
  const auto former = run_d5("network show ethernet-10g --format csv");
  const auto present = run_d5("cluster show ethernet-10g --format csv");
  CHECK(former.status == 0);
  CHECK(former.out == present.out);
  CHECK_THAT(former.err, Contains("note: d5 network is d5 cluster now"));
  CHECK_THAT(present.err, !Contains(" now"));
}

TEST_CASE("--network of predict is --cluster, with a note") {
  const TemporaryFolder folder;
  const std::string profile = folder / "p.json";
  REQUIRE(run_d5("profile lenet --batch 8 --from-cost 10ms --quiet --out " + profile).status == 0);
  const std::string predict = "predict " + profile + " --batch 8 --ranks 2 --quiet --format csv ";
  const auto present = run_d5(predict + "--cluster ethernet-25g");
  INFO(present.err);
  CHECK(present.status == 0);
  CHECK_THAT(present.err, !Contains(" now"));
  for (const std::string option : {"--network ethernet-25g", "--network=ethernet-25g"}) {
    const auto former = run_d5(predict + option);
    INFO(former.err);
    CHECK(former.status == 0);
    CHECK_THAT(former.out, Contains("ethernet-25g"));
    CHECK_THAT(former.err, Contains("note: --network is --cluster now"));
  }
}

TEST_CASE("help and manual have the present words alone") {
  CHECK_THAT(run_d5("predict --help").out, Contains("--cluster") && !Contains("--network"));
  const auto program = run_d5("--help");
  CHECK_THAT(program.out, Contains("\n  cluster ") && !Contains("\n  network "));
  CHECK_THAT(run_d5("man").out, !Contains("d5 network"));
}

}  // namespace
}  // namespace d5::testing

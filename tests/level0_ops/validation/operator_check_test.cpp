// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/operator_check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

namespace {

const Measurement& of_test(const std::vector<Measurement>& records, const std::string& test) {
  const auto place = std::ranges::find_if(
      records, [&](const Measurement& m) { return m.conditions.at("test") == test; });
  REQUIRE(place != records.end());
  return *place;
}

}  // namespace

TEST_CASE("the reference is no judge of its forward, but finite differences are of its gradient") {
  const auto records = check_operator(read_case("Relu 2x3"), {.command_options = " --load x"});
  CHECK(of_test(records, "forward").status == Status::skipped);
  CHECK_THAT(of_test(records, "forward").reason, Contains("cannot judge itself"));
  CHECK(of_test(records, "gradient").status == Status::passed);
  for (const auto& record : records) CHECK(record.command.ends_with(" --load x"));
}

TEST_CASE("what a case expects, and float64, judge the reference too") {
  const auto expected = check_operator(read_case("Add {1,2} {3,4} -> {4,6}"), {.gradient = false});
  REQUIRE(expected.size() == 1);
  CHECK(expected.front().status == Status::passed);
  CHECK(check_operator(read_case("Add {1,2} {3,4} -> {4,7}"), {.gradient = false}).front().status ==
        Status::failed);
  CHECK(check_operator(read_case("Tanh 2x3"), {.gradient = false, .forward = {.exact = true}})
            .front()
            .status == Status::passed);
}

TEST_CASE("runs are repeated where it is asked for, and frameworks are told apart") {
  int done = 0;
  const auto records =
      check_operator(read_case("Relu 4"), {.frameworks = {"reference", "reference"},
                                           .gradient = false,
                                           .repeats = 2,
                                           .on_framework = [&] { ++done; }});
  CHECK(done == 2);
  CHECK(std::ranges::count(records, "repeatability", &Measurement::metric) == 2);
}

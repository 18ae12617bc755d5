// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("a network is held against another framework, with gradients where it has a loss") {
  // One framework judges itself: what ran is skipped, but its numeric gradients are judged.
  const auto alone = check_network("lenet", {.sizes = {.batch = 2}});
  REQUIRE(alone.size() == 1);
  CHECK(alone.front().status == Status::skipped);
  CHECK_THAT(alone.front().command, StartsWith("d5 net check lenet --batch 2 --framework "));
  const auto numeric = check_network("lenet", {.sizes = {.batch = 2}, .numeric = 2});
  REQUIRE(numeric.size() > 1);
  CHECK(std::all_of(numeric.begin() + 1, numeric.end(),
                    [](const Measurement& m) { return m.status == Status::passed; }));
  CHECK_THAT(numeric.back().command, Contains("--numeric 2"));
}

TEST_CASE("a transformed network is held against the one before") {
  for (const auto& record :
       check_network("resnet-18", {.transforms = transform_chain({"fold-batch-norm"})})) {
    CHECK(record.status == Status::passed);
    CHECK(record.conditions.at("transform") == "fold-batch-norm");
  }
}

TEST_CASE("a test folder is held against what it expects, and has sizes of its own") {
  const testing::TemporaryFolder folder;
  testing::write_relu_folder(folder / "right", {0, 2});
  testing::write_relu_folder(folder / "wrong", {0, 2.5});
  CHECK(check_network(folder / "right").front().status == Status::passed);
  CHECK(check_network(folder / "wrong").front().status == Status::failed);
  CHECK(plan_network_check(folder / "right").front().status == Status::skipped);
  CHECK_THROWS_AS(check_network(folder / "right", {.sizes = {.batch = 2}}), ValueError);
  CHECK_THROWS_WITH(check_network(folder / "right", {.backward = true}), Contains("no gradients"));
}

TEST_CASE("options that do not go together are refused before anything runs") {
  CHECK_THROWS_AS(expect_checkable("lenet", {.by_node = true, .backward = true}), ValueError);
  const auto chain = transform_chain({"half-precision"});
  CHECK_THROWS_WITH(expect_checkable("lenet", {.transforms = chain, .backward = true}),
                    Contains("keeps no gradients"));
  CHECK_NOTHROW(expect_checkable("lenet", {.backward = true}));
}

TEST_CASE("each framework is announced when it is done, and a misspelt one is bad input") {
  int done = 0;
  const auto count = [&] { ++done; };
  const auto records =
      check_network("lenet", {.frameworks = {"reference", "reference"}, .on_framework = count});
  CHECK(done == 2);
  CHECK(records.size() == 2);
  CHECK_THROWS_AS(check_network("lenet", {.frameworks = {"reference", "refrence"}}), NotFound);
}

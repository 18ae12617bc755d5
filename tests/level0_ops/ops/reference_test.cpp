// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/version.hpp"

using namespace d5;

TEST_CASE("the reference is a framework that is linked in") {
  CHECK(framework("reference").version() == D5_VERSION);
  CHECK_FALSE(framework("reference").part<OperatorRegistry>().list().empty());
  const auto all = frameworks();
  const auto place = std::ranges::find(all, "reference", &FrameworkInfo::name);
  REQUIRE(place != all.end());
  CHECK(place->path.empty());
  CHECK_THROWS_AS(add_framework("reference", "2", [](Framework&) {}), ValueError);
}

TEST_CASE("a registry of that name that no framework holds is empty") {
  CHECK(OperatorRegistry("reference").list().empty());
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/carried_file.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/error.hpp"

using namespace d5;

TEST_CASE("a carried file is found, first in D5_SHARE_DIR") {
  CHECK(std::filesystem::exists(carried_file("recipes/mnist-lenet-quick.yaml")));
  CHECK(std::filesystem::is_directory(carried_file("data/mnist-sample")));
  const auto here = std::filesystem::read_symlink("/proc/self/exe");
  setenv("D5_SHARE_DIR", here.parent_path().c_str(), 1);
  CHECK(carried_file(here.filename().string()) == here.string());
  unsetenv("D5_SHARE_DIR");
}

TEST_CASE("what is not carried is refused with the places") {
  CHECK_THROWS_AS(carried_file("recipes/none.yaml"), NotFound);
  CHECK_THROWS_WITH(carried_file("recipes/none.yaml"), Catch::Contains("D5_SHARE_DIR"));
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/carried_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/errors/error.hpp"

using namespace d5;

TEST_CASE("a carried file is found, first in D5_SHARE_DIR") {
  CHECK(std::filesystem::exists(carried_file("recipes/mnist-lenet-quick.yaml")));
  CHECK(std::filesystem::is_directory(carried_file("data/mnist-sample")));
  const auto here = std::filesystem::read_symlink("/proc/self/exe");
  setenv("D5_SHARE_DIR", here.parent_path().c_str(), 1);
  CHECK(carried_file(here.filename().string()) == here.string());
  unsetenv("D5_SHARE_DIR");
}

TEST_CASE("a word is the name of a carried file, unless a file here is called so") {
  const auto recipe = file_or_carried("recipe", "recipes", "mnist-lenet-quick");
  CHECK(recipe == carried_file("recipes/mnist-lenet-quick.yaml"));
  CHECK(file_or_carried("recipe", "recipes", "./none.yaml") == "./none.yaml");
  CHECK(file_or_carried("recipe", "recipes", "/proc") == "/proc");
  CHECK_THROWS_WITH(
      file_or_carried("recipe", "recipes", "mnist-lenet-quik"),
      Catch::Contains("recipe 'mnist-lenet-quik'") && Catch::Contains("mnist-lenet-quick"));
  const auto names = carried_names("data/clusters");
  CHECK(std::find(names.begin(), names.end(), "ethernet-10g") != names.end());
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK_THROWS_AS(carried_names("data/none"), NotFound);
}

TEST_CASE("a file that is not carried is refused with the places") {
  CHECK_THROWS_AS(carried_file("recipes/none.yaml"), NotFound);
  CHECK_THROWS_WITH(carried_file("recipes/none.yaml"), Catch::Contains("D5_SHARE_DIR"));
}

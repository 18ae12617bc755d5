// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/open_sizes.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

TEST_CASE("open sizes are read from words, and written as the program takes them") {
  const OpenSizes sizes = open_sizes({"T=35", "beams=4"}, 8);
  CHECK(sizes.batch == 8);
  CHECK(sizes.by_name == std::map<std::string, std::int64_t>{{"T", 35}, {"beams", 4}});
  CHECK(to_line(sizes) == " --batch 8 --dim T=35 --dim beams=4");
  CHECK(open_sizes({}).batch == 1);
  // A name may hold what stands before the size.
  const OpenSizes odd = open_sizes({"x=1=4", "a==2"});
  CHECK(odd.by_name == std::map<std::string, std::int64_t>{{"x=1", 4}, {"a=", 2}});
  CHECK(to_line(odd) == " --batch 1 --dim a==2 --dim x=1=4");
}

TEST_CASE("a word that is no size, and a name that comes twice, are refused") {
  for (const std::string word : {"T", "T=", "T=0", "T=-1", "T=3x", "T= 3", "T=+3", ""}) {
    INFO(word);
    CHECK_THROWS_WITH(open_sizes({word}), Contains("'" + word + "': expected NAME=SIZE"));
  }
  CHECK_THROWS_AS(open_sizes({"T=99999999999999999999"}), ValueError);
  CHECK_THROWS_WITH(open_sizes({"T=1", "T=2"}), Contains("'T' has a size already"));
}

TEST_CASE("a model with inputs of its own takes no sizes") {
  CHECK_NOTHROW(refuse_sizes({}, "test_folder"));
  CHECK_THROWS_WITH(refuse_sizes({.batch = 2}, "test_folder"), Contains("'test_folder'"));
  CHECK_THROWS_AS(refuse_sizes(open_sizes({"T=1"}), "test_folder"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "core/parsing/json_depth.hpp"

#include <catch2/catch.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

std::string nested(int levels) {
  const auto count = std::size_t(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST_CASE("JSON is a hundred levels deep at most") {
  CHECK_NOTHROW(detail::expect_shallow_json(nested(100), "it"));
  CHECK_THROWS_WITH(detail::expect_shallow_json(nested(101), "it"), "it is deeper than 100 levels");
  CHECK_THROWS_AS(detail::expect_shallow_json(R"({"a": )" + nested(100) + "}", "it"), FormatError);
  CHECK_THROWS_AS(detail::JsonReader(R"({"a": )" + nested(200'000) + "}", "it"), FormatError);
}

TEST_CASE("levels that end, and brackets in texts, are none") {
  std::string list;
  for (int i = 0; i < 200; ++i) list += R"([{"a\"[": "[[\\"}], )";
  CHECK_NOTHROW(detail::expect_shallow_json(list, "it"));
  CHECK_THROWS_AS(detail::expect_shallow_json(R"("\\")" + nested(101), "it"), FormatError);
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/access_tokens.hpp"

#include <catch2/catch.hpp>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using Catch::Contains;

TEST_CASE("a token is known by its digest alone, and what it may") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "tokens.json";
  const std::string token = AccessTokens::add(file, "ci", ServingRole::run);
  CHECK(token.size() == 64);
  CHECK_THAT(read_file(file), !Contains(token));

  const AccessTokens tokens(file);
  CHECK(tokens.role_of(token) == ServingRole::run);
  CHECK_FALSE(tokens.role_of(token.substr(1)));
  CHECK_FALSE(tokens.role_of(""));
  CHECK_FALSE(tokens.role_of(tokens.list().at(0).sha256));

  SECTION("one that is added later counts at once, and one that is removed no more") {
    const std::string other = AccessTokens::add(file, "page", ServingRole::view);
    CHECK(other != token);
    CHECK(tokens.role_of(other) == ServingRole::view);
    AccessTokens::remove(file, "ci");
    CHECK_FALSE(tokens.role_of(token));
  }
  SECTION("a name stands for one, and one that is none has a nearest") {
    CHECK_THROWS_WITH(AccessTokens::add(file, "ci", ServingRole::view), Contains("named 'ci'"));
    CHECK_THROWS_WITH(AccessTokens::remove(file, "cj"), Contains("did you mean ci?"));
    CHECK_THROWS_AS(AccessTokens::add(file, "all", ServingRole::anyone), ValueError);
  }
}

TEST_CASE("a file that is none, or damaged, lets nobody in") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_WITH(AccessTokens(folder / "none.json"), Contains("d5 token add"));
  const std::string file = folder / "tokens.json";
  const std::string token = AccessTokens::add(file, "ci", ServingRole::admin);
  const AccessTokens tokens(file);
  CHECK(tokens.role_of(token) == ServingRole::admin);
  write_file(file, R"({"format": "d5 tokens", "schema": 1, "tokens": [{"name": 7}]})");
  CHECK_THROWS_AS(tokens.role_of(token), FormatError);
  CHECK_FALSE(tokens.role_of(token));
}

}  // namespace
}  // namespace d5

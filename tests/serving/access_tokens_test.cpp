// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/access_tokens.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
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
  CHECK(tokens.find(token)->role == ServingRole::run);
  CHECK(tokens.told("Bearer " + token)->name == "ci");
  CHECK_FALSE(tokens.told(token));
  CHECK_FALSE(tokens.find(token.substr(1)));
  CHECK_FALSE(tokens.find(""));
  CHECK_FALSE(tokens.find(tokens.list().at(0).sha256));

  SECTION("one that is added later counts at once, and one that is removed no more") {
    const std::string other = AccessTokens::add(file, "page", ServingRole::view);
    CHECK(other != token);
    CHECK(tokens.find(other)->role == ServingRole::view);
    AccessTokens::remove(file, "ci");
    CHECK_FALSE(tokens.find(token));
  }
  SECTION("a name is unique, and an unknown one has a nearest") {
    CHECK_THROWS_WITH(AccessTokens::add(file, "ci", ServingRole::view), Contains("named 'ci'"));
    CHECK_THROWS_WITH(AccessTokens::remove(file, "cj"), Contains("did you mean ci?"));
    CHECK_THROWS_AS(AccessTokens::add(file, "all", ServingRole::anyone), ValueError);
  }
}

TEST_CASE("a file that is missing or damaged lets nobody in") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_WITH(AccessTokens(folder / "none.json"), Contains("d5 token add"));
  const std::string file = folder / "tokens.json";
  const std::string token = AccessTokens::add(file, "ci", ServingRole::admin);
  const AccessTokens tokens(file);
  CHECK(tokens.find(token)->role == ServingRole::admin);
  write_file(file, R"({"format": "d5 tokens", "schema": 1, "tokens": [{"name": 7}]})");
  CHECK_THROWS_AS(tokens.find(token), FormatError);
  CHECK_FALSE(tokens.find(token));
}

}  // namespace
}  // namespace d5

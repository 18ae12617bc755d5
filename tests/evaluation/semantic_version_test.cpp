// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/semantic_version.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

bool in_range(const std::string& range, const std::string& version) {
  return VersionRange::parse(range).holds(SemanticVersion::of_framework(version));
}

TEST_CASE("versions stand in the order of semver.org, section 11") {
  const std::vector<std::string> order{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                       "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                       "1.0.0-rc.1",  "1.0.0",         "2.0.0",
                                       "2.1.0",       "2.1.1"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      const auto a = SemanticVersion::parse(order[i]), b = SemanticVersion::parse(order[j]);
      CHECK((a < b) == (i < j));
      CHECK((a == b) == (i == j));
    }
  }
  CHECK(SemanticVersion::parse("1.0.0+20130313144700") == SemanticVersion::parse("1.0.0+exp"));
}

TEST_CASE("a malformed version is refused") {
  const std::string text =
      GENERATE(as<std::string>{}, "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "v1.0.0", "1.0.0-",
               "1.0.0-01", "1.0.0+", "1.0.0-a..b", "-1.0.0", "1.0.0 ", "99999999999999999999.0.0",
               "1.0.0-\xC3\xA4");
  CHECK_THROWS_AS(SemanticVersion::parse(text), FormatError);
}

TEST_CASE("frameworks call their versions as they like") {
  CHECK(SemanticVersion::of_framework("2.13.0+cpu") == SemanticVersion::parse("2.13.0"));
  CHECK(SemanticVersion::of_framework("3.2") == SemanticVersion::parse("3.2.0"));
  CHECK(SemanticVersion::of_framework("2026.4.1-12345-abc").numbers[0] == 2026);
  CHECK(SemanticVersion::of_framework("2.14.0a0+git12ab") < SemanticVersion::parse("2.14.0"));
  CHECK(SemanticVersion::of_framework("2.14.0.post1") == SemanticVersion::parse("2.14.0"));
  CHECK(SemanticVersion::of_framework("1.2.3.4") == SemanticVersion::parse("1.2.3"));
  CHECK_THROWS_AS(SemanticVersion::of_framework("unknown"), FormatError);
}

TEST_CASE("a range holds what its bounds let through") {
  CHECK(in_range(">=2.4 <3", "2.13.0+cpu"));
  CHECK(in_range(">=2.4 <3", "2.4.0"));
  CHECK_FALSE(in_range(">=2.4 <3", "2.3.9"));
  CHECK_FALSE(in_range(">=2.4 <3", "3.0.0"));
  CHECK_FALSE(in_range(">=2.4 <3", "3.0.0rc1"));
  CHECK(in_range("=1.31.1", "1.31.1"));
  CHECK(in_range("", "0.0.1"));
  CHECK(in_range("<1", "0.0.0"));
  CHECK(in_range(">1.2.3 <=1.2.4", "1.2.4"));
}

TEST_CASE("a malformed or empty range is refused") {
  const std::string text = GENERATE(as<std::string>{}, "2.4", "~2.4", ">=", ">=x", ">= 2", ">=3 <2",
                                    "=1 =2", ">1.0.0 <1.0.0", "<0", ">=1.2.3.4");
  CHECK_THROWS_AS(VersionRange::parse(text), FormatError);
}

}  // namespace
}  // namespace d5

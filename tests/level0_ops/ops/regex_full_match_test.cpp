// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

TEST_CASE("RegexFullMatch wants the pattern to match a text from end to end") {
  CHECK(result_of<bool>("RegexFullMatch string:{ab,abc,xab,} pattern=a.") ==
        std::vector<bool>{true, false, false, false});
  CHECK(result_of<bool>("RegexFullMatch string:1x2{,a} pattern=a*") ==
        std::vector<bool>{true, true});
  CHECK(shape_of("RegexFullMatch string:0x2{} pattern=a") == "0x2");
}

TEST_CASE("RegexFullMatch takes one letter of UTF-8 for one character") {
  CHECK(result_of<bool>("RegexFullMatch string:{é,éé} pattern=.") ==
        std::vector<bool>{true, false});
}

TEST_CASE("RegexFullMatch ends on patterns that others match for ages") {
  const std::string text(5000, 'a');
  CHECK_FALSE(result_of<bool>("RegexFullMatch string:{" + text + "b} pattern=(a*)*c").at(0));
}

TEST_CASE("RegexFullMatch refuses patterns that RE2 cannot read, and what is no text") {
  CHECK_THROWS_AS(run_case("RegexFullMatch string:{a} pattern=(a"), ValueError);
  CHECK_THROWS_AS(run_case("RegexFullMatch string:{a} pattern=(a)\\1"), ValueError);
  CHECK_THROWS_AS(run_case("RegexFullMatch 2 pattern=a"), TypeError);
}

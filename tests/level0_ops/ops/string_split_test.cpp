// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Texts = std::vector<std::string>;
using Counts = std::vector<std::int64_t>;

TEST_CASE("StringSplit cuts at each delimiter, and fills shorter rows up") {
  const std::string line = "StringSplit string:{a--b,c,--} delimiter=-- outputs=2";
  CHECK(result_of<std::string>(line) == Texts{"a", "b", "c", "", "", ""});
  CHECK(result_of<std::int64_t>(line, 1) == Counts{2, 1, 2});
  CHECK(shape_of(line) == "3x2");
}

TEST_CASE("StringSplit takes delimiters from the left") {
  CHECK(result_of<std::string>("StringSplit string:{a---b} delimiter=-- outputs=2") ==
        Texts{"a", "-b"});
}

TEST_CASE("StringSplit cuts no more often than maxsplit says") {
  const std::string line = "StringSplit string:{a.b.c} delimiter=. outputs=2 maxsplit=";
  CHECK(result_of<std::string>(line + "1") == Texts{"a", "b.c"});
  CHECK(result_of<std::string>(line + "0") == Texts{"a.b.c"});
}

TEST_CASE("StringSplit without a delimiter cuts at runs of white space") {
  const std::string line = "StringSplit string:{\ta\n\vb\r,\t} outputs=2";
  CHECK(result_of<std::string>(line) == Texts{"a", "b", "", ""});
  CHECK(result_of<std::int64_t>(line, 1) == Counts{2, 0});
  CHECK(result_of<std::string>("StringSplit string:{\ta\t\tb\tc} maxsplit=1 outputs=2") ==
        Texts{"a", "b\tc"});
}

TEST_CASE("StringSplit takes no texts") {
  CHECK(shape_of("StringSplit string:0x2{} outputs=2") == "0x2x0");
  CHECK(shape_of("StringSplit string:0x2{} outputs=2", 1) == "0x2");
}

TEST_CASE("StringSplit refuses a negative maxsplit") {
  CHECK_THROWS_AS(run_case("StringSplit string:{a} maxsplit=-1 outputs=2"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Texts = std::vector<std::string>;

namespace {

/// Tokens of two texts; the grammar of cases has no blanks in words.
Texts tokens_of(const std::string& texts, const std::string& how, bool marks = false) {
  return result_of<std::string>("com.microsoft.Tokenizer string:" + texts + " " + how +
                                " mincharnum=1 pad_value=# mark=" + (marks ? "1" : "0"));
}

}  // namespace

TEST_CASE("Tokenizer cuts at separators, and fills shorter texts up") {
  CHECK(tokens_of("{a-b,c}", "separators=-") == Texts{"a", "b", "c", "#"});
  CHECK(tokens_of("{a--b;c,d}", "separators=-,;") == Texts{"a", "b", "c", "d", "#", "#"});
  CHECK(shape_of("com.microsoft.Tokenizer string:2x2{a-b,c,d,e-f-g} separators=-+ mincharnum=1 "
                 "pad_value=# mark=0") == "2x2x3");
}

TEST_CASE("Tokenizer takes what matches an expression") {
  CHECK(tokens_of("{one-two3,x}", "tokenexp=[a-z]+") == Texts{"one", "two", "x", "#"});
  CHECK(tokens_of("{one-two3,x}", "tokenexp=[a-z]*") == Texts{"one", "two", "x", "#"});
}

TEST_CASE("Tokenizer drops tokens that are too short, counted in characters") {
  CHECK(
      result_of<std::string>("com.microsoft.Tokenizer string:{é-éa,abc} separators=- mincharnum=2 "
                             "pad_value=# mark=0") == Texts{"éa", "abc"});
}

TEST_CASE("Tokenizer marks where a text begins and ends, but not where none has a token") {
  CHECK(tokens_of("{a-b,c}", "separators=-", true) ==
        Texts{"\x02", "a", "b", "\x03", "\x02", "c", "\x03", "#"});
  CHECK(shape_of("com.microsoft.Tokenizer string:{-,-} separators=- mincharnum=1 pad_value=# "
                 "mark=1") == "2x0");
}

TEST_CASE("Tokenizer makes a token of each character where the separator is an empty text") {
  OperatorCase one = parse_case(
      "com.microsoft.Tokenizer string:{ab,éc} separators=x mincharnum=1 pad_value=# mark=0");
  one.node.attributes["separators"] = Texts{""};
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
  runner.forward();
  const auto y = runner.output(0).tensor().span<std::string>();
  CHECK(Texts(y.begin(), y.end()) == Texts{"a", "b", "é", "c"});
}

TEST_CASE("Tokenizer refuses what it cannot cut by") {
  const auto refused = [](const std::string& how, const std::string& why) {
    const std::string line = "com.microsoft.Tokenizer string:{a} pad_value=# mark=0 " + how;
    CHECK_THROWS_WITH(run_case(line), Catch::Contains(why));
  };
  refused("mincharnum=1", "neither separators nor tokenexp");
  refused("mincharnum=0 separators=-", "mincharnum is 0");
  refused("mincharnum=1 separators=-*", "matches an empty text");
  refused("mincharnum=1 tokenexp=(", "is not an RE2 expression");
  CHECK_THROWS_AS(run_case("com.microsoft.Tokenizer string:1x1x1{a} pad_value=# mark=0 "
                           "mincharnum=1 separators=-"),
                  ShapeError);
}

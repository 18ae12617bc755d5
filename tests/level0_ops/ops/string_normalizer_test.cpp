// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Texts = std::vector<std::string>;

TEST_CASE("StringNormalizer leaves stop words out") {
  const std::string line = "StringNormalizer string:{the,Fox,THE,dog} stopwords=the,dog ";
  CHECK(result_of<std::string>(line) == Texts{"Fox"});
  CHECK(result_of<std::string>(line + "is_case_sensitive=1") == Texts{"Fox", "THE"});
  CHECK(shape_of("StringNormalizer string:1x3{a,b,c} stopwords=b") == "1x2");
}

TEST_CASE("StringNormalizer leaves one empty text where no word is kept") {
  CHECK(result_of<std::string>("StringNormalizer string:{a,b} stopwords=a,b") == Texts{""});
  CHECK(shape_of("StringNormalizer string:1x2{a,b} stopwords=a,b") == "1x1");
}

TEST_CASE("StringNormalizer knows upper and lower case beyond ASCII") {
  const std::string words = "string:{Éa,ЖЩ,ΣΑΣ,Straße,日本}";
  CHECK(result_of<std::string>("StringNormalizer " + words + " case_change_action=LOWER") ==
        Texts{"éa", "жщ", "σασ", "straße", "日本"});
  CHECK(result_of<std::string>("StringNormalizer " + words + " case_change_action=UPPER") ==
        Texts{"ÉA", "ЖЩ", "ΣΑΣ", "STRAßE", "日本"});
  CHECK(result_of<std::string>("StringNormalizer string:{ÉTÉ,x} stopwords=été") == Texts{"x"});
}

TEST_CASE("StringNormalizer leaves bytes that are no UTF-8 as they are") {
  const Texts broken = {"\xff", "\xc3", "\xe0\x81\x81", "\xf5\x80\x80\x80"};
  for (const std::string& bytes : broken) {
    const std::string line = "StringNormalizer string:{a" + bytes + "b} case_change_action=UPPER";
    CHECK(result_of<std::string>(line) == Texts{"A" + bytes + "B"});
  }
}

TEST_CASE("StringNormalizer refuses what is no row of words") {
  CHECK_THROWS_AS(run_case("StringNormalizer string:2x1{a,b}"), ShapeError);
  CHECK_THROWS_AS(run_case("StringNormalizer string:scalar{a}"), ShapeError);
  CHECK_THROWS_AS(run_case("StringNormalizer string:{a} case_change_action=TITLE"), ValueError);
  CHECK_THROWS_AS(
      run_case("StringNormalizer string:{a} case_change_action=UPPER locale=../../tmp/C.UTF-8"),
      ValueError);
}

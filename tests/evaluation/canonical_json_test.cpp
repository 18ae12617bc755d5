// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/canonical_json.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <charconv>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

std::string canonical(const std::string& json) { return canonical_json(json, "example"); }

TEST_CASE("the example of RFC 8785, section 3.2.2, becomes that of section 3.2.3") {
  const std::string given = R"({
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    })";
  CHECK(canonical(given) ==
        "{\"literals\":[null,true,false],"
        "\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
        "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST_CASE("names are sorted by UTF-16 units, as in RFC 8785, section 3.2.3") {
  const std::string given = R"({
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    })";
  const std::string sorted = canonical(given);
  std::size_t before = 0;
  for (const std::string name :
       {"Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew"}) {
    const auto place = sorted.find(name);
    REQUIRE(place != std::string::npos);
    CHECK(place > before);
    before = place;
  }
}

TEST_CASE("numbers are those of RFC 8785, appendix B") {
  struct Row {
    std::uint64_t bits;
    std::string text;
  };
  const auto row = GENERATE(values<Row>({
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  }));
  char exact[1100];
  const auto end = std::to_chars(exact, exact + sizeof exact, std::bit_cast<double>(row.bits),
                                 std::chars_format::scientific, 40);
  CHECK(canonical("[" + std::string(exact, end.ptr) + "]") == "[" + row.text + "]");
}

TEST_CASE("what two readers could take for different things is refused") {
  CHECK_THROWS_AS(canonical(R"({"a": 1, "a": 2})"), FormatError);
  CHECK_THROWS_AS(canonical(R"({"x": {"a": 1, "\u0061": 2}})"), FormatError);
  CHECK_NOTHROW(canonical(R"([{"a": 1}, {"a": 2}])"));
  CHECK_THROWS_AS(canonical("9007199254740993"), FormatError);
  CHECK_NOTHROW(canonical("9007199254740992"));
  CHECK_THROWS_AS(canonical("1e999"), FormatError);
  CHECK_THROWS_AS(canonical("NaN"), FormatError);
  CHECK_THROWS_AS(canonical("\"\xC3\""), FormatError);
  CHECK_THROWS_AS(canonical(R"("\ud83d")"), FormatError);
  CHECK_THROWS_AS(canonical(std::string(100'000, '[')), FormatError);
  CHECK_THROWS_AS(canonical("{} {}"), FormatError);
  CHECK_THROWS_AS(canonical(""), FormatError);
}

TEST_CASE("the digest is that of the canonical bytes") {
  // printf '{}' | sha256sum
  CHECK(canonical_digest(" { } ", "example") ==
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/tokenizer.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/errors/utf8.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/decoded_stream.hpp"

namespace d5 {
namespace {

using Ids = std::vector<TokenId>;

std::shared_ptr<const Tokenizer> byte_tokenizer(const std::string& special = "") {
  return tokenizers().at("bytes").make(special.empty() ? Settings{}
                                                       : Settings{{"special", special}});
}

std::vector<std::string> pieces(const std::string& bytes) {
  DecodedStream stream(byte_tokenizer());
  std::vector<std::string> pieces;
  for (const char byte : bytes) pieces.push_back(stream.next(static_cast<unsigned char>(byte)));
  pieces.push_back(stream.rest());
  return pieces;
}

TEST_CASE("the tokenizer bytes has a token for each byte, its value") {
  const auto tokenizer = byte_tokenizer();
  CHECK(tokenizer->encode(std::string_view("a\0\xFF", 3)) == Ids{97, 0, 255});
  CHECK(tokenizer->encode("").empty());
  CHECK(tokenizer->vocabulary_size() == 256);
  CHECK(tokenizer->decode(Ids{0xC3, 0xA9, 0}) == std::string("\xC3\xA9\0", 3));
  CHECK(tokenizer->frame().before.empty());
}

TEST_CASE("special tokens of bytes are found in the text, the leftmost and longest first") {
  const auto tokenizer = byte_tokenizer("<a>,<a>b,>");
  CHECK(tokenizer->encode("<a>b<a>>x<a") == Ids{257, 256, 258, 'x', '<', 'a'});
  CHECK(tokenizer->vocabulary_size() == 259);
  CHECK(tokenizer->special_token("<a>b") == 257);
  CHECK(tokenizer->decode(Ids{257, 'c'}) == "<a>bc");
  CHECK_THROWS_WITH(byte_tokenizer("<a>,<b>,<a>"), Catch::Contains("'<a>' twice"));
}

TEST_CASE("an unknown special token is refused with the nearest") {
  const auto tokenizer = byte_tokenizer("<|im_end|>,<|im_start|>");
  CHECK_THROWS_AS(tokenizer->special_token("<|im_ende|>"), NotFound);
  CHECK_THROWS_WITH(tokenizer->special_token("<|im_ende|>"), Catch::Contains("<|im_end|>"));
}

TEST_CASE("an id that is no token is refused with the range") {
  const auto tokenizer = byte_tokenizer();
  CHECK_THROWS_AS(tokenizer->decode(Ids{256}), ValueError);
  CHECK_THROWS_WITH(tokenizer->decode(Ids{97, -1}),
                    Catch::Contains("id -1 is no token") && Catch::Contains("expected 0 to 255"));
}

TEST_CASE("an unknown tokenizer is refused with those that there are") {
  CHECK_THROWS_WITH(tokenizers().at("byte"), Catch::Contains("bytes"));
}

TEST_CASE("a decoded stream gives whole characters") {
  using Pieces = std::vector<std::string>;
  CHECK(pieces("a\xC3\xA9") == Pieces{"a", "", "\xC3\xA9", ""});
  CHECK(pieces("\xF0\x9F\x98\x80!") == Pieces{"", "", "", "\xF0\x9F\x98\x80", "!", ""});
  CHECK(pieces("\xE2\x82") == Pieces{"", "", "\xE2\x82"});  // the rest of an unfinished one
}

TEST_CASE("a decoded stream holds no bytes that no character goes on with") {
  using Pieces = std::vector<std::string>;
  CHECK(pieces("\xFF\x80") == Pieces{"\xFF", "\x80", ""});
  CHECK(pieces("\xC3"
               "a") == Pieces{"",
                              "\xC3"
                              "a",
                              ""});
  CHECK(pieces("\xE0\x80") == Pieces{"", "\xE0\x80", ""});  // overlong
  CHECK(pieces("\xED\xA0") == Pieces{"", "\xED\xA0", ""});  // a surrogate
  CHECK(pieces("\xF4\x90") == Pieces{"", "\xF4\x90", ""});  // beyond U+10FFFF
  CHECK(pieces("\xC1") == Pieces{"\xC1", ""});              // begins none
  CHECK(pieces("\xF0\xC3") == Pieces{"", "\xF0", "\xC3"});  // the later one waits
}

TEST_CASE("pieces of a stream are together what decode returns, and hold whole characters") {
  const auto tokenizer = byte_tokenizer();
  RandomStream random(GENERATE(range(0, 20)));
  constexpr unsigned char kBytes[] = {'a',  0xC3, 0xA9, 0xE2, 0x82, 0xAC,
                                      0xF0, 0x9F, 0x98, 0x80, 0xFF, 0};
  DecodedStream stream(tokenizer);
  std::string all, so_far;
  Ids ids;
  for (int i = 0; i < 500; ++i) {
    ids.push_back(kBytes[random.below(std::size(kBytes))]);
    so_far += char(ids.back());
    const std::string piece = stream.next(ids.back());
    all += piece;
    REQUIRE(so_far.size() - all.size() <= 3);
    REQUIRE(so_far.starts_with(all));
    const std::string held = so_far.substr(all.size());
    if (!held.empty()) CHECK(detail::first_character(held).length == 0);
  }
  CHECK(all + stream.rest() == tokenizer->decode(ids));
  CHECK(stream.rest().empty());
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "level2_training/data/tokenizer/unicode.hpp"
#include "level2_training/data/tokenizer/word_cutter.hpp"
#include "tests/level2_training/tokenizer/has_icu.hpp"

namespace d5 {
namespace {

using detail::WordCut;
using Words = std::vector<std::string>;

Words cut_words(std::vector<WordCut> cuts, std::string_view text) {
  Words words;
  detail::WordCutter(std::move(cuts)).cut(text, [&](std::string_view word) {
    words.emplace_back(word);
  });
  return words;
}

TEST_CASE("gpt2 cuts letters, numbers and marks, each with a space before") {
  if (!testing::has_icu()) return;
  const auto cut = [](std::string_view text) { return cut_words({WordCut::gpt2}, text); };
  CHECK(cut("Hello world, 1234!") == Words{"Hello", " world", ",", " 1234", "!"});
  CHECK(cut("don't I'LL") == Words{"don", "'t", " I", "'", "LL"});
  CHECK(cut("a  b") == Words{"a", " ", " b"});
  CHECK(cut("a\n\nb \n") == Words{"a", "\n", "\n", "b", " \n"});
  CHECK(cut("  ") == Words{"  "});
  CHECK(cut("x\u00A0\u00A0y") == Words{"x", "\u00A0", "\u00A0", "y"});
  CHECK(cut("\u043C\u0438\u0440\u0661\u2167\u4E16") ==
        Words{"\u043C\u0438\u0440", "\u0661\u2167", "\u4E16"});
  CHECK(cut("e\u0301") == Words{"e", "\u0301"});  // a combining mark is no letter
  CHECK(cut("").empty());
}

TEST_CASE("llama3 keeps one mark before letters, three digits, and line ends behind marks") {
  if (!testing::has_icu()) return;
  const auto cut = [](std::string_view text) { return cut_words({WordCut::llama3}, text); };
  CHECK(cut("Hello (world) 1234567") == Words{"Hello", " (", "world", ")", " ", "123", "456", "7"});
  CHECK(cut("(world\tx") == Words{"(world", "\tx"});
  CHECK(cut("I'M don'T 'REx '\u017F") ==
        Words{"I", "'M", " don", "'T", " '", "REx", " '", "\u017F"});
  CHECK(cut("x'\u017Fy") == Words{"x", "'\u017F", "y"});
  CHECK(cut("end.\r\n\nNext") == Words{"end", ".\r\n\n", "Next"});
  CHECK(cut("a \n \n  b") == Words{"a", " \n \n", " ", " b"});
  CHECK(cut("a\n\nb\nc") == Words{"a", "\n\n", "b", "\n", "c"});
  CHECK(cut("a  1") == Words{"a", " ", " ", "1"});
  CHECK(cut("'") == Words{"'"});
}

TEST_CASE("qwen2 cuts as llama3, and numbers digit by digit") {
  if (!testing::has_icu()) return;
  CHECK(cut_words({WordCut::qwen2}, " 123\u00BD.") == Words{" ", "1", "2", "3", "\u00BD", "."});
}

TEST_CASE("smollm cuts digits first, and the rest ends before them") {
  if (!testing::has_icu()) return;
  const std::vector<WordCut> smollm{WordCut::digits, WordCut::gpt2};
  CHECK(cut_words(smollm, "in  2026.") == Words{"in", "  ", "2", "0", "2", "6", "."});
}

TEST_CASE("a space goes before a text that begins with none") {
  if (!testing::has_icu()) return;
  const std::vector<WordCut> spaced{WordCut::space_before, WordCut::gpt2};
  CHECK(cut_words(spaced, "a b") == Words{" a", " b"});
  CHECK(cut_words(spaced, " a") == Words{" a"});
  CHECK(cut_words(spaced, "\na") == Words{" ", "\n", "a"});
}

TEST_CASE("bytes that are no UTF-8 are marks, cut like them") {
  if (!testing::has_icu()) return;
  const WordCut cut = GENERATE(WordCut::gpt2, WordCut::llama3, WordCut::qwen2);
  CHECK(cut_words({cut}, "1\xFF\xC3 \xE2\x82") == Words{"1", "\xFF\xC3", " \xE2\x82"});
  CHECK(cut_words({cut}, std::string_view("\0\x01 ", 3)) == Words{std::string("\0\x01", 2), " "});
}

TEST_CASE("a text in NFC has composed letters, and its other bytes") {
  if (!testing::has_icu()) return;
  using detail::in_normal_form;
  using detail::NormalForm;
  CHECK(in_normal_form(NormalForm::nfc, "e\u0301\xFF\u212B") == "\u00E9\xFF\u00C5");
  CHECK(in_normal_form(NormalForm::nfd, "\u00E9\U0001D400") == "e\u0301\U0001D400");
  CHECK(in_normal_form(NormalForm::nfkc, "\uFB01\U0001D400\u2167") == "fiAVIII");
  CHECK(in_normal_form(NormalForm::nfkd, "\u1E9B\u0323") == "s\u0323\u0307");
  CHECK(in_normal_form(NormalForm::nfc, std::string("a\0b", 3)) == std::string("a\0b", 3));
  std::string grown;  // to 18 times its length in UTF-16
  for (int i = 0; i < 1000; ++i) grown += "\uFDFA";
  CHECK(in_normal_form(NormalForm::nfkc, grown).size() == 1000 * 33);
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"

namespace d5 {
namespace {

using detail::PatternChoice;
using detail::read_bpe_file;
using detail::WordCut;
using nlohmann::json;
using testing::toy_file;
using testing::toy_token;

detail::BpeFile read_json(const json& file, PatternChoice pattern = PatternChoice::file) {
  return read_bpe_file(file.dump(), "tokenizer 'f.json'", pattern);
}

/// A sound file, changed.
json file_with(const std::function<void(json&)>& change) {
  json file = toy_file({{"a", "b"}}, {toy_token("<s>", 300)});
  change(file);
  return file;
}

template <class E>
void expect_refusal(const std::function<void(json&)>& change, const std::string& words) {
  const json file = file_with(change);
  INFO(words);
  CHECK_THROWS_AS(read_json(file), E);
  CHECK_THROWS_WITH(read_json(file),
                    Catch::StartsWith("tokenizer 'f.json': ") && Catch::Contains(words));
}

TEST_CASE("merges are texts or pairs") {
  json file = toy_file({{"a", "b"}, {" ", "ab"}});
  const detail::BpeFile pairs = read_json(file);
  file["model"]["merges"] = {"a b", "\u0120 ab"};
  const detail::BpeFile texts = read_json(file);
  REQUIRE(texts.merges.size() == 2);
  CHECK(texts.merges[1].left == ' ');
  CHECK(texts.merges[1].result == pairs.merges[1].result);
  CHECK(texts.tokens[257] == " ab");
}

TEST_CASE("tokens are bytes, and what is written in other letters is text") {
  const detail::BpeFile file = read_json(file_with([](json& f) {
    f["model"]["vocab"]["<\uFF5C>"] = 290;
    f["model"]["vocab"]["\u00C3\u00A9\u0120"] = 291;
  }));
  CHECK(file.tokens[290] == "<\uFF5C>");
  CHECK(file.tokens[291] == "\u00E9 ");
  CHECK(file.tokens[0] == std::string(1, '\0'));
  CHECK(file.tokens[280].empty());
  CHECK(file.tokens[300] == "<s>");
}

TEST_CASE("patterns are recognised in the file, line ends written either way") {
  const std::string qwen2 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const auto with_split = [](const std::string& pattern) {
    return file_with([&](json& f) {
      f["pre_tokenizer"] = {
          {"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", pattern}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    });
  };
  CHECK(read_json(with_split(qwen2)).cuts == std::vector{WordCut::qwen2});
  std::string llama3 = qwen2, raw = qwen2;
  llama3.replace(llama3.find(R"(\p{N}|)"), 5, R"(\p{N}{1,3})");
  CHECK(read_json(with_split(llama3)).cuts == std::vector{WordCut::llama3});
  for (std::size_t at; (at = raw.find(R"(\r\n)")) != std::string::npos;) raw.replace(at, 4, "\r\n");
  CHECK(read_json(with_split(raw)).cuts == std::vector{WordCut::qwen2});

  CHECK_THROWS_AS(read_json(with_split(R"(\w+)")), Unsupported);
  CHECK_THROWS_WITH(read_json(with_split(R"(\w+)")),
                    Catch::Contains(R"(\w+)") && Catch::Contains("'pattern'"));
  CHECK(read_json(with_split(R"(\w+)"), PatternChoice::smollm).cuts ==
        std::vector{WordCut::digits, WordCut::gpt2});
}

TEST_CASE("the steps before merging are those of the file") {
  const auto cuts = [](const json& step) {
    return read_json(file_with([&](json& f) { f["pre_tokenizer"] = step; })).cuts;
  };
  CHECK(cuts({{"type", "ByteLevel"}}) == std::vector{WordCut::space_before, WordCut::gpt2});
  CHECK(cuts({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}).empty());
  CHECK(cuts({{"type", "Sequence"},
              {"pretokenizers",
               {{{"type", "Digits"}, {"individual_digits", true}},
                {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}}) ==
        std::vector{WordCut::digits, WordCut::gpt2});
  CHECK(read_json(file_with([](json& f) { f["normalizer"] = {{"type", "NFKC"}}; })).forms ==
        std::vector{detail::NormalForm::nfkc});
}

TEST_CASE("what is well formed and not known is refused with its words") {
  const auto refused = expect_refusal<Unsupported>;
  refused([](json& f) { f["model"]["type"] = "WordPiece"; }, "'WordPiece', expected 'BPE'");
  refused([](json& f) { f["model"]["continuing_subword_prefix"] = "##"; }, "'##', expected none");
  refused([](json& f) { f["model"]["dropout"] = 0.1; }, "model.dropout is 0.1");
  refused([](json& f) { f["model"]["byte_fallback"] = true; }, "model.byte_fallback");
  refused([](json& f) { f["normalizer"] = {{"type", "Lowercase"}}; }, "'Lowercase'");
  refused([](json& f) { f["decoder"] = {{"type", "Metaspace"}}; }, "'Metaspace'");
  refused([](json& f) { f["post_processor"] = {{"type", "BertX"}}; }, "'BertX'");
  refused([](json& f) { f["pre_tokenizer"] = {{"type", "Whitespace"}}; }, "'Whitespace'");
  refused([](json& f) { f["pre_tokenizer"] = nullptr; }, "'null'");
  refused([](json& f) { f["pre_tokenizer"] = {{"type", "Digits"}}; }, "Digits, not individual");
  refused([](json& f) { f["pre_tokenizer"] = {{"type", "Digits"}, {"individual_digits", true}}; },
          "ends in ByteLevel");
  refused(
      [](json& f) {
        const json bytes{{"type", "ByteLevel"}};
        f["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {bytes, bytes}}};
      },
      "none behind ByteLevel");
  refused([](json& f) { f["added_tokens"][0]["single_word"] = true; },
          "added_tokens[0].single_word");
}

TEST_CASE("a vocabulary that contradicts itself is refused with the place") {
  const auto refused = expect_refusal<FormatError>;
  refused([](json& f) { f["model"]["vocab"] = json::object(); }, "model.vocab has no tokens");
  refused([](json& f) { f["model"]["vocab"]["q"] = 97; }, "has the id 97, which");
  refused([](json& f) { f["model"]["vocab"]["ab"] = -1; }, "model.vocab['ab'] is -1");
  refused([](json& f) { f["model"]["vocab"]["ab"] = ~std::uint64_t(0); },
          "is 18446744073709551615");
  refused([](json& f) { f["model"]["vocab"]["ab"] = 1e30; }, "model.vocab['ab'] is 1e+30");
  refused([](json& f) { f["model"]["vocab"]["ab"] = "x"; }, "model.vocab['ab'] is");
  refused([](json& f) { f["model"]["vocab"]["ab"] = 70000; }, "is 70000, expected an id from 0 to");
  refused([](json& f) { f["model"]["vocab"][""] = 299; }, "is the empty text");
  refused(
      [](json& f) {
        f["model"]["vocab"] = {{"ab", 0}};
        f["model"]["merges"] = json::array();
      },
      "has no token of a byte");
  refused(
      [](json& f) {
        f["model"]["vocab"].erase("x");
        f["model"]["unk_token"] = "<unk>";
      },
      "model.unk_token is '<unk>'");
  refused([](json& f) { f.erase("model"); }, "model is missing");
}

TEST_CASE("merges of no tokens are refused with the place") {
  const auto refused = expect_refusal<FormatError>;
  refused([](json& f) { f["model"]["merges"] = 1; }, "model.merges is no list");
  refused([](json& f) { f["model"]["merges"].push_back("a c"); },
          "model.merges[1] joins 'a' and 'c', but model.vocab has no 'ac'");
  refused([](json& f) { f["model"]["merges"].push_back({"zz", "c"}); }, "has no 'zz'");
  refused([](json& f) { f["model"]["merges"].push_back("a b"); },
          "model.merges[1] joins the same tokens as model.merges[0]");
  for (const json& entry : {json("ab"), json("a b c"), json({"a"}), json({"a", 1}), json(3)}) {
    refused([&](json& f) { f["model"]["merges"][0] = entry; }, "model.merges[0] is no merge");
  }
}

TEST_CASE("added tokens that contradict the vocabulary are refused with the place") {
  const auto refused = expect_refusal<FormatError>;
  refused([](json& f) { f["added_tokens"].push_back(toy_token("<t>", 300)); },
          "added_tokens[1] has the id 300, which '<s>' has already");
  refused([](json& f) { f["added_tokens"].push_back(toy_token("<s>", 301)); },
          "added_tokens[1] adds '<s>' once more");
  refused([](json& f) { f["added_tokens"].push_back(toy_token("ab", 301)); },
          "gives 'ab' the id 301, but model.vocab the id 256");
  refused([](json& f) { f["added_tokens"].push_back(toy_token("\u00E9", 0xE9)); },
          "these letters mean the bytes '\\xe9'");
  refused([](json& f) { f["added_tokens"].push_back(toy_token("<t>", 1 << 21)); },
          "has the id 2097152, expected 0 to");
  refused([](json& f) { f["added_tokens"].push_back(toy_token("", 301)); }, "has 0 bytes");
  refused([](json& f) { f["added_tokens"].push_back(toy_token(std::string(1025, 'x'), 301)); },
          "has 1025 bytes, expected 1 to 1024");
  refused([](json& f) { f["added_tokens"][0]["special"] = 1; }, "special is no boolean");
  refused([](json& f) { f["added_tokens"] = 1; }, "added_tokens is the number 1");
}

TEST_CASE("a sequence of many steps is refused before one is run") {
  expect_refusal<FormatError>(
      [](json& f) {
        f["normalizer"] = {{"type", "Sequence"}, {"normalizers", json(17, {{"type", "NFC"}})}};
      },
      "normalizer.normalizers has 17 steps, expected at most 16");
}

TEST_CASE("a frame of no tokens is refused") {
  const auto refused = expect_refusal<FormatError>;
  const auto framed = [](int id) {
    return json{{"type", "RobertaProcessing"}, {"cls", {"<s>", id}}, {"sep", {"<s>", 300}}};
  };
  refused([&](json& f) { f["post_processor"] = framed(299); }, "id 299, which is no token");
  refused([&](json& f) { f["post_processor"] = framed(-1); }, "cls is no such pair");
  refused(
      [](json& f) {
        f["post_processor"] = {{"type", "TemplateProcessing"},
                               {"single", {{{"SpecialToken", {{"id", "<x>"}}}}}},
                               {"special_tokens", json::object()}};
      },
      "<x> is missing");
}

TEST_CASE("a file that is no JSON is refused") {
  for (const std::string text : {"", "{", "[]", "\xFF", "{\"model\": 1}"}) {
    CHECK_THROWS_AS(read_bpe_file(text, "tokenizer 'f.json'", PatternChoice::file), FormatError);
  }
  CHECK_THROWS_WITH(
      read_bpe_file(std::string(1000, '[') + std::string(1000, ']'), "f", PatternChoice::file),
      Catch::Contains("deeper than 100 levels"));
}

}  // namespace
}  // namespace d5

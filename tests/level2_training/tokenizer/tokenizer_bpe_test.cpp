// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/decoded_stream.hpp"
#include "tests/level2_training/tokenizer/has_icu.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using detail::PatternChoice;
using testing::Merges;
using testing::toy_file;
using testing::toy_token;
using testing::toy_tokenizer;
using Ids = std::vector<TokenId>;

std::string random_bytes(RandomStream& random, std::size_t most, std::string_view of) {
  std::string text(random.below(most), '\0');
  for (char& c : text) c = of[random.below(of.size())];
  return text;
}

/// Merges that make ever longer tokens of the letters a to c.
Merges random_merges(RandomStream& random) {
  std::vector<std::string> tokens{"a", "b", "c"};
  Merges merges;
  for (int i = 0; i < 40; ++i) {
    const std::string left = tokens[random.below(tokens.size())];
    const std::string right = tokens[random.below(tokens.size())];
    if (std::ranges::find(merges, std::pair(left, right)) != merges.end()) continue;
    merges.emplace_back(left, right);
    if (left.size() + right.size() < 6) tokens.push_back(left + right);
  }
  return merges;
}

/// By the definition: the first merge of the list that fits anywhere, at its leftmost place, again
/// and again.
std::vector<std::string> merged_by_definition(const std::string& word, const Merges& merges) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (std::size_t rank = 0; rank < merges.size();) {
    std::size_t at = 0;
    while (at + 1 < parts.size() && std::pair(parts[at], parts[at + 1]) != merges[rank]) ++at;
    if (at + 1 >= parts.size()) {
      ++rank;
      continue;
    }
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + std::ptrdiff_t(at) + 1);
    rank = 0;
  }
  return parts;
}

TEST_CASE("earlier merges come first, and the leftmost of equals") {
  if (!testing::has_icu()) return;
  const auto tokenizer = toy_tokenizer(toy_file({{"b", "c"}, {"a", "b"}, {"a", "a"}, {"aa", "a"}}));
  CHECK(tokenizer->encode("abc") == Ids{'a', 256});
  CHECK(tokenizer->encode("ab") == Ids{257});
  CHECK(tokenizer->encode("aaaaa") == Ids{258, 259});  // aa, aa, a: then aa a
  CHECK(tokenizer->encode("x").size() == 1);
  CHECK(tokenizer->vocabulary_size() == 260);
}

TEST_CASE("merges join bytes, within characters too, and never beyond a word") {
  if (!testing::has_icu()) return;
  const auto tokenizer = toy_tokenizer(toy_file({{"\xC3", "\xA9"}, {" ", "a"}, {"b", " "}}));
  CHECK(tokenizer->encode("\u00E9 ab a") == Ids{256, 257, 'b', 257});
  CHECK(tokenizer->decode(Ids{256, 257}) == "\u00E9 a");
}

TEST_CASE("the queue of merges gives what the definition gives") {
  if (!testing::has_icu()) return;
  RandomStream random(GENERATE(range(100, 160)));
  const Merges merges = random_merges(random);
  const auto tokenizer = toy_tokenizer(toy_file(merges));
  for (int i = 0; i < 50; ++i) {
    const std::string word = random_bytes(random, 40, "abc");
    std::vector<std::string> parts;
    for (const TokenId id : tokenizer->encode(word)) parts.emplace_back(tokenizer->bytes_of(id));
    REQUIRE(parts == merged_by_definition(word, merges));
  }
}

TEST_CASE("a word of a million letters is merged in seconds") {
  if (!testing::has_icu()) return;
  const auto tokenizer = toy_tokenizer(toy_file({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(tokenizer->encode(std::string(1 << 20, 'a')) == Ids(1 << 17, 258));
  // A scan of all neighbours a merge takes an hour.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("all bytes come back, in each pattern") {
  if (!testing::has_icu()) return;
  const PatternChoice pattern = GENERATE(PatternChoice::gpt2, PatternChoice::llama3,
                                         PatternChoice::qwen2, PatternChoice::smollm);
  const auto tokenizer =
      toy_tokenizer(toy_file({{" ", "a"}, {"\xC3", "\xA9"}, {"\xF0", "\x9F"}, {"1", "2"}},
                             {toy_token("<|end|>", 300)}),
                    SpecialText::token, pattern);
  RandomStream random(stream_of("all bytes come back"));
  using namespace std::string_literals;
  const std::string some = " a\0\n\r'sS12<|end|>\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF"s;
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_bytes(random, 100, some);
    const Ids ids = tokenizer->encode(text);
    REQUIRE(tokenizer->decode(ids) == text);
    DecodedStream stream(tokenizer);
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.next(id);
    REQUIRE(streamed + stream.rest() == text);
  }
}

TEST_CASE("a whole word that is a token needs no merges where the file says so") {
  if (!testing::has_icu()) return;
  nlohmann::json file = toy_file({{"a", "b"}, {"c", "d"}, {"ab", "cd"}});
  file["model"]["merges"].erase(2);
  CHECK(toy_tokenizer(file)->encode("abcd") == Ids{256, 257});
  file["model"]["ignore_merges"] = true;
  CHECK(toy_tokenizer(file)->encode("abcd") == Ids{258});
  CHECK(toy_tokenizer(file)->encode("abcda") == Ids{256, 257, 'a'});
}

TEST_CASE("special tokens are tokens, or text where the text is not trusted") {
  if (!testing::has_icu()) return;
  const nlohmann::json file =
      toy_file({{"<", "|"}}, {toy_token("<|a|>", 300), toy_token("tool", 301, false)});
  const auto tokenizer = toy_tokenizer(file);
  CHECK(tokenizer->encode("x<|a|>tool") == Ids{'x', 300, 301});
  CHECK(toy_tokenizer(file, SpecialText::text)->encode("<|a|>tool") ==
        Ids{256, 'a', '|', '>', 301});
  CHECK(tokenizer->special_token("<|a|>") == 300);
  CHECK(tokenizer->special_tokens().size() == 1);
  CHECK_THROWS_AS(tokenizer->special_token("tool"), NotFound);
  CHECK(tokenizer->vocabulary_size() == 302);
  CHECK_THROWS_WITH(tokenizer->decode(Ids{280}), Catch::Contains("leaves it out"));
}

TEST_CASE("added tokens take the white space around them where the file says so") {
  if (!testing::has_icu()) return;
  nlohmann::json before = toy_token("<b>", 300), after = toy_token("<a>", 301);
  before["lstrip"] = true;
  after["rstrip"] = true;
  const auto tokenizer = toy_tokenizer(toy_file({}, {before, after}));
  CHECK(tokenizer->encode("x \u00A0\n<b> y") == Ids{'x', 300, ' ', 'y'});
  CHECK(tokenizer->encode(" <a>\u2003 y") == Ids{' ', 301, 'y'});
  CHECK(tokenizer->encode("  <b>  <b>") == Ids{300, 300});
}

TEST_CASE("text is normalised as the file says, and some added tokens are sought behind that") {
  if (!testing::has_icu()) return;
  nlohmann::json written = toy_token("e\u0301!", 300), normal = toy_token("e\u0301?", 301);
  normal["normalized"] = true;
  const auto tokenizer = toy_tokenizer(toy_file({{"\xC3", "\xA9"}}, {written, normal}, "NFC"));
  CHECK(tokenizer->encode("e\u0301") == Ids{256});
  CHECK(tokenizer->encode("e\u0301!\u00E9!") == Ids{300, 256, '!'});
  CHECK(tokenizer->encode("e\u0301?\u00E9?") == Ids{301, 301});
  CHECK(tokenizer->encode("e\xFF") == Ids{'e', 0xFF});
}

TEST_CASE("bytes without a token become the unknown one, neighbours together or each") {
  if (!testing::has_icu()) return;
  nlohmann::json file = toy_file({}, {toy_token("<unk>", 300)});
  file["model"]["vocab"].erase("x");
  file["model"]["vocab"]["<unk>"] = 300;
  file["model"]["unk_token"] = "<unk>";
  CHECK(toy_tokenizer(file)->encode("axxb") == Ids{'a', 300, 300, 'b'});
  file["model"]["fuse_unk"] = true;
  CHECK(toy_tokenizer(file)->encode("axxbx") == Ids{'a', 300, 'b', 300});
}

TEST_CASE("bytes are left out where the file has neither a token nor an unknown one for them") {
  if (!testing::has_icu()) return;
  nlohmann::json file = toy_file({{"a", "b"}});
  file["model"]["vocab"].erase("x");
  CHECK(toy_tokenizer(file)->encode("axbxx") == Ids{256});  // neighbours merge, as in `tokenizers`
}

TEST_CASE("a file's template is the frame of its texts") {
  if (!testing::has_icu()) return;
  nlohmann::json file = toy_file({}, {toy_token("<s>", 300), toy_token("</s>", 301)});
  const auto special = [](const char* id) {
    return nlohmann::json{{"SpecialToken", {{"id", id}, {"type_id", 0}}}};
  };
  const nlohmann::json text{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  file["post_processor"] = {
      {"type", "Sequence"},
      {"processors",
       {{{"type", "ByteLevel"}},
        {{"type", "TemplateProcessing"},
         {"single", {special("<s>"), text, special("</s>")}},
         {"special_tokens", {{"<s>", {{"ids", {300}}}}, {"</s>", {{"ids", {301, 10}}}}}}}}}};
  const auto tokenizer = toy_tokenizer(file);
  CHECK(tokenizer->frame().before == Ids{300});
  CHECK(tokenizer->frame().after == Ids{301, 10});
  CHECK(tokenizer->encode("a") == Ids{'a'});
  file["post_processor"] = {
      {"type", "RobertaProcessing"}, {"cls", {"<s>", 300}}, {"sep", {"</s>", 301}}};
  CHECK(toy_tokenizer(file)->frame().after == Ids{301});
}

TEST_CASE("the entry bpe reads a file") {
  if (!testing::has_icu()) return;
  const testing::TemporaryFolder folder;
  write_file(folder / "tokenizer.json", toy_file({{"a", "b"}}, {toy_token("<b>", 300)}).dump());
  const auto make = [&](Settings settings) {
    settings.set("file", folder / "tokenizer.json");
    return tokenizers().at("bpe").make(settings);
  };
  CHECK(make({})->encode("1ab<b>") == Ids{'1', 256, 300});
  CHECK(make({{"special", "text"}})->encode("<b>") == Ids{'<', 'b', '>'});
  CHECK_THROWS_AS(make({{"pattern", "other"}}), ValueError);
  CHECK_THROWS_WITH(tokenizers().at("bpe").make(), Catch::Contains("tokenizer.json"));
  CHECK_THROWS_AS(tokenizers().at("bpe").make({{"file", folder / "none.json"}}), IoError);
  std::filesystem::resize_file(folder / "tokenizer.json", detail::kMostFileBytes + 1);
  CHECK_THROWS_WITH(make({}), Catch::Contains("is larger than 268435456 bytes"));
}

}  // namespace
}  // namespace d5

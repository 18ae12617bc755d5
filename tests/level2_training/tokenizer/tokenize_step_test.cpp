// SPDX-License-Identifier: Apache-2.0
// The step `tokenize`: padding, cuts, frames and masks, by hand.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "tests/level2_training/data/after_steps.hpp"
#include "tests/level2_training/tokenizer/has_icu.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using StepIds = std::vector<std::int64_t>;

StepIds ids_of(const std::string& text, Settings settings) {
  const Tensor ids = testing::after(Tensor::scalar(text), {{"tokenize", std::move(settings)}});
  const auto all = ids.span<std::int64_t>();
  return {all.begin(), all.end()};
}

Settings with_bytes(const Settings& more) {
  Settings settings{{"tokenizer", "bytes"}};
  for (const auto& [name, value] : more.values()) settings.set(name, value);
  return settings;
}

TEST_CASE("a text has its own length, or a given one") {
  CHECK(ids_of("ab", with_bytes({})) == StepIds{'a', 'b'});
  CHECK(ids_of("", with_bytes({})).empty());
  CHECK(ids_of("ab", with_bytes({{"length", 4}})) == StepIds{'a', 'b', 0, 0});
  CHECK(ids_of("ab", with_bytes({{"length", 4}, {"padding", 7}})) == StepIds{'a', 'b', 7, 7});
  CHECK(ids_of("abcde", with_bytes({{"length", 4}, {"padding", 7}})) ==
        StepIds{'a', 'b', 'c', 'd'});
  CHECK(ids_of("", with_bytes({{"length", 2}, {"padding", 7}})) == StepIds{7, 7});
}

TEST_CASE("a mask is one where a token is, also one whose id is the padding's") {
  const Settings mask = with_bytes({{"length", 4}, {"gives", "mask"}});
  CHECK(ids_of("ab", mask) == StepIds{1, 1, 0, 0});
  CHECK(ids_of(std::string("a\0", 2), mask) == StepIds{1, 1, 0, 0});
  CHECK(ids_of("abcde", mask) == StepIds{1, 1, 1, 1});
}

TEST_CASE("bytes are a text, numbers are none") {
  const Settings bytes = with_bytes({});
  const Tensor ids =
      testing::after(Tensor::vector(std::vector<std::uint8_t>{'a', 255}), {{"tokenize", bytes}});
  CHECK(ids.data<std::int64_t>()[1] == 255);
  CHECK_THROWS_AS(testing::after(Tensor::vector(std::vector<float>{1}), {{"tokenize", bytes}}),
                  TypeError);
}

TEST_CASE("a cut text keeps the tokens around it") {
  if (!testing::has_icu()) return;
  const testing::TemporaryFolder folder;
  auto file = testing::toy_file({{"a", "b"}},
                                {testing::toy_token("<s>", 300), testing::toy_token("</s>", 301)});
  file["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", {"</s>", 301}},
                            {"cls", {"<s>", 300}},
                            {"trim_offsets", false},
                            {"add_prefix_space", false}};
  write_file(folder / "tokenizer.json", file.dump());
  const auto tokens = [&](const std::string& text, const Settings& more) {
    Settings settings{{"file", folder / "tokenizer.json"}};
    for (const auto& [name, value] : more.values()) settings.set(name, value);
    return ids_of(text, settings);
  };
  CHECK(tokens("abc", {}) == StepIds{300, 256, 'c', 301});
  CHECK(tokens("abc", {{"length", 5}, {"padding", 1}}) == StepIds{300, 256, 'c', 301, 1});
  CHECK(tokens("abcccc", {{"length", 4}}) == StepIds{300, 256, 'c', 301});
  CHECK(tokens("abc", {{"length", 2}}) == StepIds{300, 301});
  CHECK(tokens("abc", {{"frame", false}}) == StepIds{256, 'c'});
  CHECK(tokens("abc", {{"frame", false}, {"length", 1}}) == StepIds{256});
  CHECK_THROWS_WITH(tokens("abc", {{"length", 1}}),
                    Catch::Contains("expected at least 2") && Catch::Contains("frame: false"));
}

TEST_CASE("a tokenizer that lacks its file, or that nobody knows, is refused") {
  CHECK_THROWS_WITH(ids_of("a", {}), Catch::Contains("tokenizer.json"));
  CHECK_THROWS_WITH(ids_of("a", {{"tokenizer", "bites"}}), Catch::Contains("did you mean bytes?"));
  CHECK_THROWS_WITH(ids_of("a", with_bytes({{"file", "x.json"}})), Catch::Contains("file"));
}

}  // namespace
}  // namespace d5

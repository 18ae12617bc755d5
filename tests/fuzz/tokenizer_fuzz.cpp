// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json that is damaged, and a text of any bytes behind a NUL: the file is refused, or
// the text is encoded. Where neither a normal form nor an unknown token changes it, it comes back.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/data/tokenizer/bpe_tokenizer.hpp"
#include "level2_training/tokenizer/toy_tokenizer.hpp"

namespace d5::fuzz {
namespace {

/// A sound file with every kind of part.
std::string sound_file(RandomStream& random) {
  nlohmann::json spaced = testing::toy_token("<mask>", 300);
  spaced["lstrip"] = spaced["rstrip"] = one_in(random, 3);
  nlohmann::json file = testing::toy_file(
      {{"a", "b"}, {"ab", "a"}, {" ", "a"}, {"\xC3", "\xA9"}},
      {spaced, testing::toy_token("<|end|>", 301), testing::toy_token("ab", 256, false)},
      one_in(random, 3) ? "NFC" : nullptr);
  file["model"]["ignore_merges"] = one_in(random, 2);
  file["post_processor"] = {
      {"type", "RobertaProcessing"}, {"cls", {"<mask>", 300}}, {"sep", {"<|end|>", 301}}};
  if (one_in(random, 3)) {
    file["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers",
                              {{{"type", "Digits"}, {"individual_digits", true}},
                               {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  }
  return file.dump();
}

std::string some_bytes(RandomStream& random) {
  std::string text;
  for (std::int64_t count = between(random, 0, 20); count > 0; --count) {
    const std::string parts[] = {"ab",   " a",     "\u00E9",         "e\u0301",
                                 "12",   "'s",     "<|end|>",        "<mask>",
                                 "\r\n", "\u3000", some_text(random)};
    text += pick(random, parts);
  }
  return text;
}

/// Whether the file's texts come back: nothing changes or drops a part of them.
bool is_lossless(const detail::BpeFile& file) {
  const auto takes_spaces = [](const detail::AddedToken& token) {
    return token.takes_spaces_before || token.takes_spaces_after;
  };
  return file.forms.empty() && std::ranges::count(file.bytes.of, detail::ByteTokens::kNone) == 0 &&
         std::ranges::count(file.cuts, detail::WordCut::space_before) == 0 &&
         std::ranges::none_of(file.added, takes_spaces);
}

}  // namespace

std::string name() { return "tokenizer"; }

void prepare() {
  try {
    static_cast<void>(detail::character_classes());
  } catch (const Unsupported&) {  // without ICU every file is refused
  }
}

std::string make_case(RandomStream& random) {
  std::string file = sound_file(random);
  if (one_in(random, 2)) {
    file = one_in(random, 3) ? with_damage(file, random) : with_other_values(file, random);
  }
  std::replace(file.begin(), file.end(), '\0', ' ');
  return file + '\0' + some_bytes(random);
}

std::string run_case(const std::string& bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  detail::BpeFile file =
      detail::read_bpe_file(bytes.substr(0, end), "tokenizer 'fuzz'", detail::PatternChoice::file);
  const bool comes_back = is_lossless(file);
  const detail::BpeTokenizer tokenizer(std::move(file), SpecialText::token);
  const std::string text = bytes.substr(std::min(end + 1, bytes.size()));
  const std::string decoded = tokenizer.decode(tokenizer.encode(text));
  return comes_back && decoded != text ? "the text does not come back" : "";
}

}  // namespace d5::fuzz

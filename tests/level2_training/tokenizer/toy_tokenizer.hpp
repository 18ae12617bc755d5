// SPDX-License-Identifier: Apache-2.0
// A small tokenizer.json: 256 tokens of bytes, whose ids are their values, and merges from id 256
// on.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "level2_training/data/tokenizer/bpe_tokenizer.hpp"

namespace d5::testing {

using Merges = std::vector<std::pair<std::string, std::string>>;

/// The letter that files write for a byte.
inline std::string letter_of(int byte) {
  const auto is_own = [](int b) { return (b > 32 && b < 127) || (b > 160 && b != 173); };
  int code = byte;
  if (!is_own(byte)) {
    code = 256;
    for (int before = 0; before < byte; ++before) code += is_own(before) ? 0 : 1;
  }
  if (code < 128) return {char(code)};
  return {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
}

inline std::string letters_of(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) letters += letter_of(static_cast<unsigned char>(byte));
  return letters;
}

/// `merges` are pairs of bytes, each a token of its own by then.
inline nlohmann::json toy_file(const Merges& merges, const std::vector<nlohmann::json>& added = {},
                               const char* normalizer = nullptr) {
  nlohmann::json vocabulary, list = nlohmann::json::array();
  for (int byte = 0; byte < 256; ++byte) vocabulary[letter_of(byte)] = byte;
  int next = 256;
  for (const auto& [left, right] : merges) {
    const std::string both = letters_of(left + right);
    if (!vocabulary.contains(both)) vocabulary[both] = next++;
    list.push_back({letters_of(left), letters_of(right)});
  }
  nlohmann::json file{
      {"version", "1.0"},
      {"added_tokens", nlohmann::json(added)},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"post_processor", nullptr},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", list}}}};
  if (normalizer) file["normalizer"] = {{"type", normalizer}};
  return file;
}

inline nlohmann::json toy_token(const std::string& text, int id, bool is_special = true) {
  return {{"id", id},        {"content", text}, {"special", is_special}, {"single_word", false},
          {"lstrip", false}, {"rstrip", false}, {"normalized", false}};
}

inline std::shared_ptr<const Tokenizer> toy_tokenizer(
    const nlohmann::json& file, SpecialText special = SpecialText::token,
    detail::PatternChoice pattern = detail::PatternChoice::file) {
  return std::make_shared<detail::BpeTokenizer>(
      detail::read_bpe_file(file.dump(), "tokenizer 'toy'", pattern), special);
}

}  // namespace d5::testing

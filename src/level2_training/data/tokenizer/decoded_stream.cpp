// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/decoded_stream.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace d5 {
namespace {

/// Length of the character that `lead` begins; 0: none does.
std::size_t length_by_lead(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// Whether a character may go on like this. Source: The Unicode Standard, table 3-7.
bool may_follow(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0 && second <= 0xBF;
    case 0xED:
      return second >= 0x80 && second <= 0x9F;
    case 0xF0:
      return second >= 0x90 && second <= 0xBF;
    case 0xF4:
      return second >= 0x80 && second <= 0x8F;
    default:
      return second >= 0x80 && second <= 0xBF;
  }
}

/// Number of bytes at the end that begin a character and do not finish it.
std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t count = 1; count <= std::min<std::size_t>(3, text.size()); ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if ((byte & 0xC0U) == 0x80U) continue;  // within a character
    if (length_by_lead(byte) <= count) return 0;
    const bool goes_on =
        count == 1 || may_follow(byte, static_cast<unsigned char>(text[text.size() - count + 1]));
    return goes_on ? count : 0;
  }
  return 0;
}

}  // namespace

DecodedStream::DecodedStream(std::shared_ptr<const Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)) {}

std::string DecodedStream::next(TokenId id) {
  std::string text = held_;
  text += tokenizer_->bytes_of(id);
  const std::size_t whole = text.size() - unfinished_bytes(text);
  held_ = text.substr(whole);
  text.resize(whole);
  return text;
}

std::string DecodedStream::rest() { return std::exchange(held_, {}); }

}  // namespace d5

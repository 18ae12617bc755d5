// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/answer_stops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

AnswerStops::AnswerStops(GenerationLimits limits, std::shared_ptr<const Tokenizer> tokenizer,
                         std::int64_t vocabulary)
    : limits_(std::move(limits)), tokenizer_(std::move(tokenizer)) {
  if (limits_.most_tokens < 1 || limits_.least_tokens < 0 ||
      limits_.least_tokens > limits_.most_tokens) {
    throw ValueError(fmt::format(
        "generation: least_tokens is {} and most_tokens is {}, expected 0 or more, and 1 or more "
        "and no fewer than least_tokens",
        limits_.least_tokens, limits_.most_tokens));
  }
  for (const TokenId token : limits_.stop_tokens) {
    if (token >= 0 && token < vocabulary) continue;
    throw ValueError(fmt::format("generation: stop token {} is no token, expected 0 to {}", token,
                                 vocabulary - 1));
  }
  for (const std::string& text : limits_.stop_texts) {
    if (!tokenizer_) {
      throw ValueError(fmt::format(
          "generation: stop text '{}' needs a tokenizer; give the generator one, or stop_tokens",
          printable(text)));
    }
    if (text.empty()) {
      throw ValueError("generation: a stop text is empty, expected at least one byte");
    }
    longest_ = std::max(longest_, text.size());
  }
}

std::span<const TokenId> AnswerStops::barred(std::size_t length) const {
  if (std::int64_t(length) >= limits_.least_tokens) return {};
  return limits_.stop_tokens;
}

std::optional<AnswerEnd> AnswerStops::end(std::span<const TokenId> answer) const {
  const auto length = std::int64_t(answer.size());
  if (length >= limits_.least_tokens) {
    const auto& stops = limits_.stop_tokens;
    if (std::ranges::find(stops, answer.back()) != stops.end()) return AnswerEnd::stop_token;
    if (completes_text(answer)) return AnswerEnd::stop_text;
  }
  if (length >= limits_.most_tokens) return AnswerEnd::most_tokens;
  return std::nullopt;
}

bool AnswerStops::completes_text(std::span<const TokenId> answer) const {
  if (longest_ == 0) return false;
  const std::size_t added = tokenizer_->bytes_of(answer.back()).size();
  // Each token before has a byte or more.
  const std::string tail = tokenizer_->decode(answer.last(std::min(answer.size(), longest_ + 1)));
  return std::ranges::any_of(limits_.stop_texts, [&](const std::string& text) {
    const std::size_t before = tail.size() - added;  // a stop text that ended here ended the answer
    const std::size_t from = before + 1 > text.size() ? before + 1 - text.size() : 0;
    return tail.find(text, from) != std::string::npos;
  });
}

}  // namespace d5::detail

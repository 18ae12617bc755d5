// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/drawn_prompts.hpp"

#include <algorithm>
#include <ranges>

#include "d5/core/tensor/random.hpp"

namespace d5::detail {

const DrawnText& DrawnPrompts::draw(const TracedRequest& request, std::int64_t round) {
  numbers_.clear();
  if (const auto turn = turns_.find(request.line)) append_turns_before(turns_.at(*turn), round);
  const auto left = [&] { return request.prompt_tokens - std::int64_t(numbers_.size()); };
  for (const std::uint64_t id : trace_.blocks_of(request)) {
    append("prompt blocks", id, round, std::min(block_, left()));
  }
  append("prompts", std::uint64_t(request.line), round, left());
  text_ = {.prompt = numbers_,
           .shared_tokens = shared_tokens(request, round),
           .answer_tokens = request.answer_tokens,
           .number = request.line};
  return text_;
}

void DrawnPrompts::append_turns_before(const RecordedTurn& turn, std::int64_t round) {
  std::vector<const RecordedTurn*> before;  // the last first
  for (auto place = turn.before; place; place = turns_.at(*place).before) {
    before.push_back(&turns_.at(*place));
  }
  for (const RecordedTurn* one : before | std::views::reverse) {
    append("prompts", std::uint64_t(one->line), round,
           one->prompt_tokens - std::int64_t(numbers_.size()));
    append("answers", std::uint64_t(one->line), round, one->answer_tokens);
  }
}

void DrawnPrompts::append(const char* stream, std::uint64_t id, std::int64_t round,
                          std::int64_t tokens) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // seeds of rounds are far apart
  const std::uint64_t key =
      (seed_ + kGolden * std::uint64_t(round)) ^ (std::uint64_t(stream_of(stream)) << 32);
  RandomStream random(key, std::uint32_t(id), std::uint32_t(id >> 32));
  for (; tokens > 0; --tokens) numbers_.push_back(random.bits());
}

std::int64_t DrawnPrompts::shared_tokens(const TracedRequest& request, std::int64_t round) {
  if (round_ != round) places_.clear(), lines_.clear();
  round_ = round;
  if (const auto turn = turns_.find(request.line)) return tokens_of_turns(turns_.at(*turn));
  std::int64_t shared = 0, before = 0, left = request.prompt_tokens;
  bool is_shared = true;
  for (const std::uint64_t id : trace_.blocks_of(request)) {
    const std::int64_t tokens = std::min(block_, left);
    const auto [entry, is_new] = places_.try_emplace(
        {before, id}, Place{.number = std::int64_t(places_.size()) + 1, .tokens = tokens});
    Place& place = entry->second;
    is_shared = is_shared && !is_new;
    if (is_shared) shared += std::min(tokens, place.tokens);
    is_shared = is_shared && place.tokens >= tokens;
    place.tokens = std::max(place.tokens, tokens);
    before = place.number;
    left -= tokens;
  }
  return shared;
}

/// Tokens of the last prompt before it in its conversation that was drawn, which it begins with.
std::int64_t DrawnPrompts::tokens_of_turns(const RecordedTurn& turn) {
  lines_.insert(turn.line);
  for (auto place = turn.before; place; place = turns_.at(*place).before) {
    const RecordedTurn& before = turns_.at(*place);
    if (lines_.contains(before.line)) return before.prompt_tokens;
  }
  return 0;
}

}  // namespace d5::detail

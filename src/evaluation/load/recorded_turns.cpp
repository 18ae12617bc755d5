// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/recorded_turns.hpp"

#include <algorithm>

namespace d5::detail {

void RecordedTurns::add(std::string_view session, const RecordedTurn& turn) {
  const auto [last, is_first] = last_.try_emplace(std::string(session), turns_.size());
  turns_.push_back(turn);
  if (is_first) return;
  const RecordedTurn& before = turns_[last->second];
  const bool goes_on = turn.prompt_tokens >= before.prompt_tokens + before.answer_tokens;
  if (goes_on) turns_.back().before = last->second;
  last->second = turns_.size() - 1;
}

std::optional<std::size_t> RecordedTurns::find(std::int64_t line) const {
  const auto place = std::ranges::lower_bound(turns_, line, {}, &RecordedTurn::line);
  if (place == turns_.end() || place->line != line) return std::nullopt;
  return std::size_t(place - turns_.begin());
}

}  // namespace d5::detail

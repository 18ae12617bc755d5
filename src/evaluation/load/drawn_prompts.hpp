// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "d5/evaluation/load/request_trace.hpp"
#include "d5/evaluation/load/system_under_test.hpp"
#include "evaluation/load/recorded_turns.hpp"

namespace d5::detail {

/// Draws the prompts of a trace's requests.
///
/// Number i of a block depends on the seed, the block's id, the round and i alone; number i of what
/// follows the blocks on the seed, the request's line, the round and i. So any part of a trace has
/// the prompts that it has in the whole, equal blocks are equal, and no others are. The prompt of a
/// turn that goes on with a conversation begins with the last turn's, and random tokens in place of
/// its answer.
class DrawnPrompts {
 public:
  /// `block`: tokens of a block. `recorded` outlives this object.
  DrawnPrompts(const TraceOfTurns& recorded, std::uint64_t seed, std::int64_t block)
      : trace_(recorded.trace), turns_(recorded.turns), seed_(seed), block_(block) {}

  /// Valid until the next call. `round`: number of the loop through the trace, whose blocks are
  /// those of no other.
  [[nodiscard]] const DrawnText& draw(const TracedRequest& request, std::int64_t round);

 private:
  void append(const char* stream, std::uint64_t id, std::int64_t round, std::int64_t tokens);
  void append_turns_before(const RecordedTurn& turn, std::int64_t round);
  std::int64_t shared_tokens(const TracedRequest& request, std::int64_t round);
  std::int64_t tokens_of_turns(const RecordedTurn& turn);

  const RequestTrace& trace_;
  const RecordedTurns& turns_;
  std::uint64_t seed_;
  std::int64_t block_;
  std::vector<std::uint32_t> numbers_;
  DrawnText text_;

  /// A block behind a beginning of some prompts.
  struct Place {
    std::int64_t number = 0, tokens = 0;  ///< `tokens`: most that a prompt had of it
  };
  /// By the number of the place before and the block's id; a tree of prompts' beginnings.
  std::map<std::pair<std::int64_t, std::uint64_t>, Place> places_;
  std::set<std::int64_t> lines_;  ///< turns whose prompts were drawn in this round
  std::int64_t round_ = 0;        ///< round of `places_` and `lines_`
};

}  // namespace d5::detail

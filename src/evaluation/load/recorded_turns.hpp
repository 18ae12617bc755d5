// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "d5/evaluation/load/request_trace.hpp"

namespace d5::detail {

/// A turn of a recorded conversation.
struct RecordedTurn {
  std::int64_t line = 0;  ///< as `TracedRequest::line`
  std::int64_t prompt_tokens = 0, answer_tokens = 0;
  /// Place of the turn whose prompt and answer this prompt begins with; nothing: it is all new.
  std::optional<std::size_t> before = {};
};

/// Which prompts of a trace go on with a conversation.
///
/// A trace has ids of conversations and lengths, no texts. A prompt goes on if it is at least as
/// long as the prompt and the answer of its conversation's last turn together, as of a client that
/// sends all that was said before. A shorter one was cut or edited: it is taken as new.
class RecordedTurns {
 public:
  /// Adds the next request of the file, that of a failed turn excepted.
  void add(std::string_view session, const RecordedTurn& turn);
  /// Place of a request's turn; nothing for one without a conversation.
  [[nodiscard]] std::optional<std::size_t> find(std::int64_t line) const;
  [[nodiscard]] const RecordedTurn& at(std::size_t place) const { return turns_[place]; }
  [[nodiscard]] bool empty() const { return turns_.empty(); }

 private:
  std::vector<RecordedTurn> turns_;  ///< by line
  std::unordered_map<std::string, std::size_t> last_;
};

/// A trace with its conversations.
struct TraceOfTurns {
  RequestTrace trace;
  RecordedTurns turns;  ///< those before the chosen part, too
};

/// As `read_trace`.
[[nodiscard]] TraceOfTurns read_trace_of_turns(const RecordingOptions& options);

}  // namespace d5::detail

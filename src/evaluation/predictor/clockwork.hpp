// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5::detail {

/// Times and lengths of a clockwork's answers.
///
/// Units: seconds; an answer begins once it has a slot.
struct ClockworkOptions {
  double first = 0.05;         ///< begin to the first piece with tokens
  double gap = 0.01;           ///< mean time between pieces
  std::int64_t tokens = 20;    ///< length of an answer
  std::int64_t per_piece = 1;  ///< tokens of a piece; the last may have fewer
  std::int64_t reasoning = 0;  ///< number of first pieces that are reasoning
  std::int64_t slots = 0;      ///< answers at a time, further ones wait; 0: any number
  double role = 0;             ///< begin to an empty piece of a role; 0: none
  double stall = 0;            ///< added to the gap before each `stall_every`th piece
  std::int64_t stall_every = 10;
  std::int64_t fail_every = 0;  ///< every so many answers, one fails; 0: none
  std::int64_t fail_after = 0;  ///< pieces with tokens of a failing answer
  enum class Gaps { fixed, exponential } gaps = Gaps::fixed;
  std::uint64_t seed = 0;  ///< seed of exponential gaps
  void declare(OptionList& options);
};

/// A piece of a clockwork's answer, `at` ns after the answer's begin.
struct ClockworkPiece {
  std::int64_t at = 0, tokens = 0;
  PieceKind kind = PieceKind::content;
};
/// What happens in one answer.
struct ClockworkAnswer {
  std::vector<ClockworkPiece> pieces = {};  ///< in the order of time
  bool fails = false;                       ///< right after the last piece
};
/// The answer to request `number`, counted from 0.
[[nodiscard]] ClockworkAnswer clockwork_answer(const ClockworkOptions& options,
                                               std::int64_t number);
/// The text of a piece: a word a token.
[[nodiscard]] std::string clockwork_text(const ClockworkPiece& piece);

/// A generator of text whose every time is known. It only keeps the times: a caller waits until
/// `next`, by whatever clock, and calls `pass`. Requests wait in line for a slot.
class Clockwork {
 public:
  explicit Clockwork(const ClockworkOptions& options) : options_(options) {}

  /// `tokens`: length of this answer; 0: that of the options.
  void ask(std::int64_t id, std::int64_t now, std::int64_t tokens = 0);
  /// Forgets a request, at `now`; of one that is over nothing happens.
  void drop(std::int64_t id, std::int64_t now);
  /// Time of the next event, in ns; nothing without an answer under way.
  [[nodiscard]] std::optional<std::int64_t> next() const;
  /// Calls `piece` and `end` for what happens up to `now`, in the order of time.
  void pass(std::int64_t now, const std::function<void(const QueryProgress&)>& piece,
            const std::function<void(const QueryAnswer&)>& end);

 private:
  struct Running {
    std::int64_t id, begun;
    ClockworkAnswer answer;
    std::size_t told = 0;  ///< pieces that have passed
    [[nodiscard]] std::int64_t next() const { return begun + answer.pieces[told].at; }
  };
  /// Starts waiting requests while there are slots.
  void admit(std::int64_t now);

  ClockworkOptions options_;
  std::int64_t number_ = 0;
  struct Waiting {
    std::int64_t id, tokens;
  };
  std::deque<Waiting> waiting_;
  std::vector<Running> running_;
};

}  // namespace d5::detail

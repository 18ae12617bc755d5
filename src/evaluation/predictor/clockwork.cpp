// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/clockwork.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "d5/core/tensor/random.hpp"

namespace d5::detail {

void ClockworkOptions::declare(OptionList& options) {
  const OptionRange time{.least = 0, .most = 3600, .unit = "s"};
  options.add("first", first, "time from an answer's begin to its first piece with tokens", time);
  options.add("gap", gap, "mean time between pieces", time);
  options.add("tokens", tokens, "tokens of an answer", {.least = 1, .most = 1e6});
  options.add("per_piece", per_piece, "tokens of a piece", {.least = 1, .most = 1e6});
  options.add("reasoning", reasoning, "number of first pieces that are reasoning", {.least = 0});
  options.add("slots", slots, "answers at a time; 0: any number", {.least = 0});
  options.add("role", role, "time from an answer's begin to an empty piece of a role; 0: none",
              time);
  options.add("stall", stall, "time added to the gap before each 'stall_every'th piece", time);
  options.add("stall_every", stall_every, "number of pieces from one stall to the next",
              {.least = 1});
  options.add("fail_every", fail_every, "number of answers from one failure to the next; 0: none",
              {.least = 0});
  options.add("fail_after", fail_after, "pieces with tokens of a failing answer", {.least = 0});
  options.add("gaps", gaps, "distribution of the gaps: all the same, or exponential",
              {"fixed", "exponential"});
  options.add("seed", seed, "seed of exponential gaps");
}

ClockworkAnswer clockwork_answer(const ClockworkOptions& options, std::int64_t number) {
  ClockworkAnswer answer;
  answer.fails = options.fail_every > 0 && (number + 1) % options.fail_every == 0;
  RandomStream random(options.seed, std::uint32_t(number), std::uint32_t(number >> 32));
  if (options.role > 0) {
    answer.pieces.push_back({.at = std::llround(options.role * 1e9), .kind = PieceKind::role});
  }
  double at = options.first;
  std::int64_t left = options.tokens;
  for (std::int64_t i = 0; left > 0; ++i) {
    if (answer.fails && i == options.fail_after) break;
    if (i > 0) {
      const bool fixed = options.gaps == ClockworkOptions::Gaps::fixed;
      at += fixed ? options.gap : -options.gap * std::log1p(-random.uniform_double());
      if (options.stall > 0 && i % options.stall_every == 0) at += options.stall;
    }
    const std::int64_t tokens = std::min(options.per_piece, left);
    const PieceKind kind = i < options.reasoning ? PieceKind::reasoning : PieceKind::content;
    answer.pieces.push_back({.at = std::llround(at * 1e9), .tokens = tokens, .kind = kind});
    left -= tokens;
  }
  std::ranges::stable_sort(answer.pieces, {}, &ClockworkPiece::at);  // a role may come late
  if (answer.pieces.empty()) answer.pieces.push_back({.kind = PieceKind::role});
  return answer;
}

std::string clockwork_text(const ClockworkPiece& piece) {
  std::string text;
  for (std::int64_t i = 0; i < piece.tokens; ++i) text += " tick";
  return text;
}

void Clockwork::ask(std::int64_t id, std::int64_t now, std::int64_t tokens) {
  waiting_.push_back({.id = id, .tokens = tokens > 0 ? tokens : options_.tokens});
  admit(now);
}

void Clockwork::drop(std::int64_t id, std::int64_t now) {
  std::erase_if(waiting_, [&](const Waiting& one) { return one.id == id; });
  std::erase_if(running_, [&](const Running& one) { return one.id == id; });
  admit(now);
}

void Clockwork::admit(std::int64_t now) {
  while (!waiting_.empty() &&
         (options_.slots == 0 || std::int64_t(running_.size()) < options_.slots)) {
    ClockworkOptions options = options_;
    options.tokens = waiting_.front().tokens;
    running_.push_back(
        {.id = waiting_.front().id, .begun = now, .answer = clockwork_answer(options, number_++)});
    waiting_.pop_front();
  }
}

std::optional<std::int64_t> Clockwork::next() const {
  if (running_.empty()) return std::nullopt;
  return std::ranges::min_element(running_, {}, &Running::next)->next();
}

void Clockwork::pass(std::int64_t now, const std::function<void(const QueryProgress&)>& piece,
                     const std::function<void(const QueryAnswer&)>& end) {
  while (!running_.empty()) {
    const auto place = std::ranges::min_element(running_, {}, &Running::next);
    const std::int64_t at = place->next();
    if (at > now) return;
    const ClockworkPiece& told = place->answer.pieces[place->told];
    piece({.id = place->id, .tokens = told.tokens, .kind = told.kind});
    if (++place->told < place->answer.pieces.size()) continue;
    QueryAnswer answer{.id = place->id, .begun = place->begun};
    if (place->answer.fails) {
      answer.status = Status::failed;
      answer.reason = "clockwork: it was asked to fail";
    }
    running_.erase(place);
    admit(at);
    end(answer);
  }
}

}  // namespace d5::detail

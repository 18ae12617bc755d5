// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/query_log.hpp"

#include <algorithm>
#include <thread>

namespace d5::detail {

QueryLog::QueryLog(std::int64_t most, std::int64_t ready)
    : pieces_(std::size_t((most + kPiece - 1) / kPiece)) {
  for (std::int64_t id = 0; id < std::min(ready, most); id += kPiece) {
    pieces_[std::size_t(id / kPiece)] = std::make_unique<Piece>();
  }
}

void QueryLog::add(std::int64_t sample, std::int64_t scheduled, std::int64_t issued,
                   std::uintptr_t tag) {
  const std::int64_t id = size_.load(std::memory_order_relaxed);
  auto& piece = pieces_[std::size_t(id / kPiece)];
  if (!piece) piece = std::make_unique<Piece>();
  at(id).record = {.id = id, .sample = sample, .scheduled = scheduled, .issued = issued};
  at(id).tag = tag;
  size_.store(id + 1, std::memory_order_release);
}

bool QueryLog::answer(std::int64_t id, const QueryAnswer& answer, std::int64_t now, bool kept) {
  if (id < 0 || id >= size()) {
    ++unasked_;
    return false;
  }
  Entry& entry = at(id);
  std::uint8_t expected = waiting;
  if (!entry.state.compare_exchange_strong(expected, written, std::memory_order_acquire)) {
    if (expected != closed) ++again_;
    return false;
  }
  entry.record.begun = answer.begun;
  entry.record.ended = now;
  entry.record.batch = answer.batch;
  entry.record.status = answer.status;
  entry.record.tokens = answer.tokens > 0 ? answer.tokens : entry.tokens.load();
  if (answer.status != Status::passed || kept) {
    const std::lock_guard lock(mutex_);
    if (answer.status != Status::passed && reason_.empty()) reason_ = answer.reason;
    if (kept) {
      KeptAnswer& copy = answers_.emplace_back();
      copy.id = id;
      copy.sample = entry.record.sample;
      copy.bytes.assign(answer.bytes.begin(), answer.bytes.end());
    }
  }
  entry.state.store(answered, std::memory_order_release);
  return true;
}

bool QueryLog::progress(std::int64_t id, const QueryProgress& piece, std::int64_t now) {
  if (id < 0 || id >= size()) {
    ++unasked_;
    return false;
  }
  Entry& entry = at(id);
  const std::uint8_t state = entry.state.load(std::memory_order_acquire);
  if (state != waiting) {
    if (state != closed) ++late_pieces_;
    return false;
  }
  if (piece.tokens <= 0) return false;
  const bool is_first = entry.tokens.fetch_add(piece.tokens) == 0;
  std::int64_t never = 0;
  if (piece.kind != PieceKind::reasoning) entry.answered.compare_exchange_strong(never, now);
  const std::lock_guard lock(mutex_);
  pieces_of_answers_.push_back(
      {.at = now, .query = std::uint32_t(id), .tokens = std::uint32_t(piece.tokens)});
  return is_first;
}

std::vector<std::int64_t> QueryLog::refuse(std::int64_t first, const std::string& reason,
                                           std::int64_t now) {
  std::vector<std::int64_t> refused;
  for (std::int64_t id = first; id < size(); ++id) {
    if (at(id).state.load(std::memory_order_acquire) != waiting) continue;
    if (answer(id, {.batch = 0, .status = Status::failed, .reason = reason}, now, false)) {
      refused.push_back(id);
    }
  }
  return refused;
}

void QueryLog::close() {
  for (std::int64_t id = 0; id < size(); ++id) {
    Entry& entry = at(id);
    std::uint8_t expected = waiting;
    if (entry.state.compare_exchange_strong(expected, closed, std::memory_order_acquire)) {
      entry.record.status = Status::failed;
      continue;
    }
    while (entry.state.load(std::memory_order_acquire) == written) std::this_thread::yield();
  }
}

QueryLog::Closed QueryLog::take() {
  Closed result;
  result.queries.reserve(std::size_t(size()));
  for (std::int64_t id = 0; id < size(); ++id) {
    const Entry& entry = at(id);
    result.queries.push_back(entry.record);
    result.queries.back().answered = entry.answered;
    if (entry.state.load(std::memory_order_relaxed) == closed) {
      ++result.unanswered;
    } else if (entry.record.status != Status::passed) {
      ++result.failed;
    }
  }
  result.again = again_;
  result.unasked = unasked_;
  result.late_pieces = late_pieces_;
  const std::lock_guard lock(mutex_);
  result.pieces.assign(pieces_of_answers_.begin(), pieces_of_answers_.end());
  std::ranges::stable_sort(result.pieces, {}, &TokenPiece::query);
  for (const TokenPiece& piece : result.pieces) {
    QueryRecord& query = result.queries[piece.query];
    if (query.first == 0) query.first = piece.at;
  }
  result.answers = std::move(answers_);
  std::ranges::sort(result.answers, {}, &KeptAnswer::id);
  result.reason = reason_;
  return result;
}

}  // namespace d5::detail

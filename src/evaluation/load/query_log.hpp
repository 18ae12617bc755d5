// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/load/query_record.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5::detail {

/// Whether the id belongs to a pseudo-random share of all ids, which depends on the id only.
[[nodiscard]] inline bool is_in_share(double share, std::int64_t id) {
  return double((std::uint64_t(id) * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53 < share;
}

/// The records of a run in progress. Each is written once when its query is issued and once by its
/// first answer; later answers are only counted.
///
/// Thread safety: the issuing thread calls `add` and `close`; any thread calls `answer` and
/// `progress`.
class QueryLog {
 public:
  /// A log for `most` queries. Memory for `ready` of them is allocated and touched at once; for the
  /// others piece by piece on demand.
  explicit QueryLog(std::int64_t most, std::int64_t ready = 0);

  /// Adds the next query; its id is the previous `size()`. It may be answered from then on. `tag`
  /// is the caller's.
  void add(std::int64_t sample, std::int64_t scheduled, std::int64_t issued,
           std::uintptr_t tag = 0);
  [[nodiscard]] std::uintptr_t tag(std::int64_t id) { return at(id).tag; }
  [[nodiscard]] std::int64_t size() const { return size_.load(std::memory_order_acquire); }

  /// Returns whether this is the first answer to an issued query. `kept`: keeps its bytes, too.
  bool answer(std::int64_t id, const QueryAnswer& answer, std::int64_t now, bool kept);
  /// Records a piece that arrived before the answer. Returns whether it is the first with tokens.
  bool progress(std::int64_t id, const QueryProgress& piece, std::int64_t now);
  /// Tokens of the pieces so far.
  [[nodiscard]] std::int64_t tokens(std::int64_t id) { return at(id).tokens; }
  /// Fails all of [first, size()) without an answer, because of an exception. Returns their ids.
  std::vector<std::int64_t> refuse(std::int64_t first, const std::string& reason, std::int64_t now);

  /// Ignores all further answers.
  void close();

  /// The contents after `close`.
  struct Closed {
    std::vector<QueryRecord> queries = {};
    std::vector<TokenPiece> pieces = {};   ///< sorted by query, each query's in their order
    std::vector<KeptAnswer> answers = {};  ///< sorted by id
    std::int64_t unanswered = 0, failed = 0;
    std::int64_t late_pieces = 0;  ///< pieces of queries already answered
    std::int64_t again = 0;        ///< answers to queries already answered
    std::int64_t unasked = 0;      ///< answers to queries never issued
    std::string reason = {};       ///< reason for the first failure
  };
  [[nodiscard]] Closed take();

 private:
  enum State : std::uint8_t { waiting, written, answered, closed };
  struct Entry {
    QueryRecord record;
    std::uintptr_t tag = 0;
    std::atomic<std::int64_t> tokens = 0, answered = 0;  ///< sums over its pieces
    std::atomic<std::uint8_t> state = waiting;
  };
  /// Records per piece: for a short run, the piece and the list of pieces are about equally large.
  static constexpr std::int64_t kPiece = 1 << 10;
  using Piece = std::array<Entry, kPiece>;

  Entry& at(std::int64_t id) {
    return (*pieces_[std::size_t(id / kPiece)])[std::size_t(id % kPiece)];
  }

  std::vector<std::unique_ptr<Piece>> pieces_;
  std::atomic<std::int64_t> size_ = 0, again_ = 0, unasked_ = 0, late_pieces_ = 0;
  std::mutex mutex_;                          ///< guards the members below
  std::deque<TokenPiece> pieces_of_answers_;  ///< a deque: a growing vector moves all at once
  std::vector<KeptAnswer> answers_;
  std::string reason_;
};

}  // namespace d5::detail

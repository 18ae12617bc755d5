// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/load/query_record.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5::detail {

/// Whether it is among a share of all ids that depends on nothing else.
[[nodiscard]] inline bool is_in_share(double share, std::int64_t id) {
  return double((std::uint64_t(id) * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53 < share;
}

/// The records of a run, while it asks and answers come. Each is written once by who asks and once
/// by the first who answers; what comes later changes nothing and is counted.
///
/// Thread safety: `add` and `close` by who asks, `answer` by any thread.
class QueryLog {
 public:
  /// For that many queries. Memory for `ready` of them is taken and touched at once, for the others
  /// as they come, a piece at a time.
  explicit QueryLog(std::int64_t most, std::int64_t ready = 0);

  /// The next query; its id is `size()` before. It may be answered from then on. `tag` is the
  /// asker's own.
  void add(std::int64_t sample, std::int64_t scheduled, std::int64_t issued,
           std::uintptr_t tag = 0);
  [[nodiscard]] std::uintptr_t tag(std::int64_t id) { return at(id).tag; }
  [[nodiscard]] std::int64_t size() const { return size_.load(std::memory_order_acquire); }

  /// Whether it was the first answer to a query that was asked. `kept`: its bytes, too.
  bool answer(std::int64_t id, const QueryAnswer& answer, std::int64_t now, bool kept);
  /// An exception is an answer: to all of [first, size()) that have none yet. Which had none.
  std::vector<std::int64_t> refuse(std::int64_t first, const std::string& reason, std::int64_t now);

  /// From now on nothing is changed any more, whoever answers.
  void close();

  /// After `close`.
  struct Closed {
    std::vector<QueryRecord> queries = {};
    std::vector<KeptAnswer> answers = {};  ///< by id
    std::int64_t unanswered = 0, failed = 0;
    std::int64_t again = 0;    ///< answers to queries that had one
    std::int64_t unasked = 0;  ///< answers to what nobody asked
    std::string reason = {};   ///< of the first failure
  };
  [[nodiscard]] Closed take();

 private:
  enum State : std::uint8_t { waiting, written, answered, closed };
  struct Entry {
    QueryRecord record;
    std::uintptr_t tag = 0;
    std::atomic<std::uint8_t> state = waiting;
  };
  /// Of a short run the piece and the list of pieces are about as large.
  static constexpr std::int64_t kPiece = 1 << 10;
  using Piece = std::array<Entry, kPiece>;

  Entry& at(std::int64_t id) {
    return (*pieces_[std::size_t(id / kPiece)])[std::size_t(id % kPiece)];
  }

  std::vector<std::unique_ptr<Piece>> pieces_;
  std::atomic<std::int64_t> size_ = 0, again_ = 0, unasked_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::vector<KeptAnswer> answers_;
  std::string reason_;
};

}  // namespace d5::detail

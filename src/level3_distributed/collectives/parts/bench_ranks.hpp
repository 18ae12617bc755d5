// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <vector>

#include "d5/core/measuring/measure.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"

namespace d5::detail {

/// Algorithms of one kind on data of one size, on all ranks: rank 0 says what is done next, for it
/// alone knows when it has measured enough; the others follow.
///
/// Orders and judgements are given on `watched`: a rank that fails alone there, before its calls
/// are timed, leaves nobody waiting. What fails on all alike (`Unsupported`) is rank 0's to tell.
class BenchRanks {
 public:
  BenchRanks(const CollectiveKind& kind, std::vector<CollectiveKind::Algorithm> algorithms,
             std::int64_t elements, Communicator& ranks, CallTimeout& watched);

  /// Of ranks but 0: until rank 0 ends it.
  void follow();

  // Of rank 0, each done on all ranks.
  /// New data, and a barrier: what comes next is `call`.
  /// Throws, here and below, too: what left the ranks apart, again and again.
  void prepare(std::size_t algorithm);
  /// `repetitions` calls of the algorithm that was prepared, one after the other.
  void call();
  /// The longest of what the last `call` took on any rank, here `seconds`.
  [[nodiscard]] double slowest(double seconds);
  /// Calls it on new data: how many elements are wrong on all ranks together.
  [[nodiscard]] std::int64_t wrong_elements(std::size_t algorithm);
  /// Throws: what left the ranks apart, on rank 0 too, where records swallow it.
  void end();

  [[nodiscard]] int repetitions() const { return int(calls_.size()); }

 private:
  enum class Order : std::int64_t { call, slowest, judge, end };
  void give(Order order, std::size_t algorithm);
  void fill();
  void run(Communicator& ranks);
  template <class F>
  void guarded(const F& what);
  [[nodiscard]] double value(int rank, std::int64_t element, std::size_t call) const;
  [[nodiscard]] std::int64_t judge();
  [[nodiscard]] std::int64_t wrong_here() const;

  const CollectiveKind& kind_;
  std::vector<CollectiveKind::Algorithm> algorithms_;
  Parts parts_;
  Communicator& ranks_;
  CallTimeout& watched_;
  std::exception_ptr apart_;
  std::map<std::size_t, std::exception_ptr> tried_;  // at rank 0: what an algorithm threw on all
  std::vector<CommunicationCall> calls_;
  std::size_t algorithm_ = 0;
  std::int64_t fills_ = 0;
};

}  // namespace d5::detail

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

/// Runs algorithms of one kind on data of one size, on all ranks. Rank 0 directs the others,
/// because only it knows when it has measured enough.
///
/// Orders and checks use `watched`, so that a rank that fails alone before its timed calls leaves
/// nobody waiting. Failures on all ranks alike (`Unsupported`) are reported by rank 0.
class BenchRanks {
 public:
  BenchRanks(const CollectiveKind& kind, std::vector<CollectiveKind::Algorithm> algorithms,
             std::int64_t elements, Communicator& ranks, CallTimeout& watched);

  /// Follows rank 0's orders until `end`, on ranks other than 0.
  void follow();

  // Functions of rank 0, each of which runs on all ranks.
  /// Makes new data and waits at a barrier; `call` comes next. Throws, here and below: the error
  /// that left the ranks out of step, on every use.
  void prepare(std::size_t algorithm);
  /// Makes `repetitions` calls of the prepared algorithm, one after the other.
  void call();
  /// The longest time of the last `call` on any rank; `seconds` is this rank's.
  [[nodiscard]] double slowest(double seconds);
  /// Calls the algorithm on new data; returns the number of wrong elements on all ranks.
  [[nodiscard]] std::int64_t wrong_elements(std::size_t algorithm);
  /// Ends `follow` on the other ranks. Throws: the error that left the ranks out of step, on rank 0
  /// too, where records swallow it.
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
  std::map<std::size_t, std::exception_ptr> tried_;  // on rank 0: errors of algorithms on all ranks
  std::vector<CommunicationCall> calls_;
  std::size_t algorithm_ = 0;
  std::int64_t fills_ = 0;
};

}  // namespace d5::detail

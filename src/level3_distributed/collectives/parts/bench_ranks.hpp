// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/measure.hpp"
#include "d5/level3_distributed/collective_kind.hpp"

namespace d5::detail {

/// Algorithms of one kind on data of one size, on all ranks: rank 0 says what is done next, for it
/// alone knows when it has measured enough; the others follow.
class BenchRanks {
 public:
  BenchRanks(const CollectiveKind& kind, std::vector<CollectiveKind::Algorithm> algorithms,
             std::int64_t elements, Communicator& ranks);

  /// Of ranks but 0: until rank 0 ends it.
  void follow();

  // Of rank 0, each done on all ranks.
  /// New data, and a barrier: what comes next is `call`.
  void prepare(std::size_t algorithm);
  /// `repetitions` calls of the algorithm that was prepared, one after the other.
  void call();
  /// The longest of what the last `call` took on any rank, here `seconds`.
  [[nodiscard]] double slowest(double seconds);
  /// Calls it on new data: how many elements are wrong on all ranks together.
  [[nodiscard]] std::int64_t wrong_elements(std::size_t algorithm);
  void end();

  [[nodiscard]] int repetitions() const { return int(calls_.size()); }

 private:
  enum class Order : std::int64_t { call, slowest, judge, end };
  void give(Order order, std::size_t algorithm);
  void fill();
  [[nodiscard]] double value(int rank, std::int64_t element, std::size_t call) const;
  [[nodiscard]] std::int64_t judge();

  const CollectiveKind& kind_;
  std::vector<CollectiveKind::Algorithm> algorithms_;
  Parts parts_;
  Communicator& ranks_;
  std::vector<CommunicationCall> calls_;
  std::size_t algorithm_ = 0;
  std::int64_t fills_ = 0;
};

}  // namespace d5::detail

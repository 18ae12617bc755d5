// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/collectives/collective_plan.hpp"

namespace d5 {

/// The parts of a buffer, one for each rank, in order. An index wraps around: part p is part p
/// modulo `size()`.
class Parts {
 public:
  /// Parts as equal as possible.
  Parts(std::int64_t elements, int parts);
  explicit Parts(const RankCounts& counts);
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] ElementRange operator[](int part) const;
  /// The range of parts `begin` to `end` - 1; these do not wrap around.
  [[nodiscard]] ElementRange between(int begin, int end) const;
  /// The same parts, rotated to begin with part `first`.
  [[nodiscard]] Parts rotated(int first) const;

 private:
  [[nodiscard]] std::int64_t begin(int part) const {
    return offsets_.empty() ? elements_ * part / size_ : offsets_[std::size_t(part)];
  }

  int size_;
  std::int64_t elements_;
  std::vector<std::int64_t> offsets_;  // empty: equal parts
};

/// An all-reduce described by a plan over the data.
class PlannedAllReduce : public AllReduce {
 public:
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveSize& size) const = 0;
  /// The rounds of `plan`, for `start`; made one by one where there are many.
  [[nodiscard]] virtual PlannedRounds rounds(const CollectiveSize& size) const {
    return rounds_of(plan(size));
  }
  /// The plan with messages of at most `chunk_bytes`, with the same result bits; nullopt if the
  /// algorithm cannot chunk.
  [[nodiscard]] virtual std::optional<CollectivePlan> plan_in_chunks(
      const CollectiveSize& size, std::int64_t chunk_bytes) const {
    (void)size, (void)chunk_bytes;
    return {};
  }
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size).volume(size.element_bytes);
  }
};

/// A broadcast described by a plan over the data. Throws: ValueError for a root outside the ranks.
class PlannedBroadcast : public Broadcast {
 public:
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveSize& size) const = 0;
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, int root) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size).volume(size.element_bytes);
  }
};

/// A reduce-scatter described by a plan over a copy of `all`. At the end part r holds rank r's
/// result. Throws: ShapeError, TypeError.
class PlannedReduceScatter : public ReduceScatter {
 public:
  [[nodiscard]] virtual CollectivePlan plan(int rank, const Parts& parts) const = 0;
  std::unique_ptr<Request> start(Communicator& ranks, const Tensor& all, Tensor& mine,
                                 Reduction reduction, const RankCounts& counts) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size.rank, Parts(size.elements, size.ranks)).volume(size.element_bytes);
  }
};

/// An all-gather described by a plan over `all`, which already holds this rank's part. With
/// `Order::from_mine` the plan's buffer begins with this rank's part. Throws: ShapeError,
/// TypeError.
class PlannedAllGather : public AllGather {
 public:
  enum class Order { from_rank_0, from_mine };
  explicit PlannedAllGather(Order order = Order::from_rank_0) : order_(order) {}
  /// `parts` are in rank order, whatever the order of the buffer.
  [[nodiscard]] virtual CollectivePlan plan(int rank, const Parts& parts) const = 0;
  [[nodiscard]] Order order() const { return order_; }
  std::unique_ptr<Request> start(Communicator& ranks, const Tensor& mine, Tensor& all,
                                 const RankCounts& counts) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size.rank, Parts(size.elements, size.ranks)).volume(size.element_bytes);
  }

 private:
  Order order_;
};

}  // namespace d5

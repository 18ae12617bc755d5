// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/collectives/collective_plan.hpp"

namespace d5 {

/// The parts of a buffer, one a rank, one after the other. Part p is that of p modulo their number.
class Parts {
 public:
  /// As equal as can be.
  Parts(std::int64_t elements, int parts);
  explicit Parts(const RankCounts& counts);
  [[nodiscard]] int size() const { return int(offsets_.size()) - 1; }
  [[nodiscard]] std::int64_t elements() const { return offsets_.back(); }
  [[nodiscard]] ElementRange operator[](int part) const;
  /// Parts `begin` to `end` - 1, which do not go round.
  [[nodiscard]] ElementRange between(int begin, int end) const;
  /// The same parts in an order that begins with another one.
  [[nodiscard]] Parts rotated(int first) const;

 private:
  std::vector<std::int64_t> offsets_;
};

/// An all-reduce that is a plan over the data.
class PlannedAllReduce : public AllReduce {
 public:
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveSize& size) const = 0;
  /// The same in messages of at most so many bytes, with the same bits; nothing where it has none.
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

/// A broadcast that is a plan over the data. Throws: ValueError for a root that is no rank.
class PlannedBroadcast : public Broadcast {
 public:
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveSize& size) const = 0;
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, int root) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size).volume(size.element_bytes);
  }
};

/// A reduce-scatter that is a plan over a copy of `all`, of which part r holds rank r's result in
/// the end. Throws: ShapeError, TypeError.
class PlannedReduceScatter : public ReduceScatter {
 public:
  [[nodiscard]] virtual CollectivePlan plan(int rank, const Parts& parts) const = 0;
  std::unique_ptr<Request> start(Communicator& ranks, const Tensor& all, Tensor& mine,
                                 Reduction reduction, const RankCounts& counts) final;
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const final {
    return plan(size.rank, Parts(size.elements, size.ranks)).volume(size.element_bytes);
  }
};

/// An all-gather that is a plan over `all`, in which this rank's part stands already; if it asks,
/// over a buffer that begins with this rank's part. Throws: ShapeError, TypeError.
class PlannedAllGather : public AllGather {
 public:
  enum class Order { from_rank_0, from_mine };
  explicit PlannedAllGather(Order order = Order::from_rank_0) : order_(order) {}
  /// `parts` are in the order of ranks, whatever the order of the buffer.
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

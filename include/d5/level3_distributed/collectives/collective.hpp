// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/communicator/traffic.hpp"

namespace d5 {

/// One rank's place in a collective, and how much of what it is about.
struct CollectiveSize {
  int rank = 0, ranks = 1;
  std::int64_t elements = 0;  ///< of the data; of reduce-scatter and all-gather those of all ranks
  std::int64_t element_bytes = 4;
  int root = 0;  ///< of a broadcast
};

/// What an algorithm of any kind can tell of itself.
class Collective {
 public:
  virtual ~Collective() = default;
  /// What `Traffic` counts of one call on that rank, all kinds of call together; nothing where the
  /// algorithm does not know.
  [[nodiscard]] virtual std::optional<Traffic::Line> volume(const CollectiveSize& size) const {
    (void)size;
    return {};
  }
  /// Does now what the first call on a communicator would do first, such as measure. A collective.
  virtual void prepare(Communicator& ranks) { (void)ranks; }
  /// Of one that leaves it to others: to whom, for records: "ring to 4 MiB, then mpi".
  [[nodiscard]] virtual std::string chosen() const { return {}; }
};

/// One algorithm of all-reduce, over whatever calls of a communicator it likes.
///
///     auto ring = all_reduces().at("ring").make();
///     ring->start(*world(), gradient)->wait();
class AllReduce : public Collective {
 public:
  /// In place and with the same bits on every rank, under way when it returns. Several may be under
  /// way at once if all ranks start them in the same order. This object outlives the request.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                                       Reduction reduction = Reduction::sum) = 0;
};

/// One algorithm of broadcast. What is said of `AllReduce::start` holds for all kinds.
class Broadcast : public Collective {
 public:
  /// Overwrites `data` with that of rank `root`.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                                       int root) = 0;
};

/// One algorithm of reduce-scatter.
class ReduceScatter : public Collective {
 public:
  /// Shapes: `all` holds a part for each rank; rank r gets part r, reduced. `counts` are the
  /// elements of each part where they differ.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator,
                                                       const Tensor& all, Tensor& mine,
                                                       Reduction reduction = Reduction::sum,
                                                       const RankCounts& counts = {}) = 0;
};

/// One algorithm of all-gather.
class AllGather : public Collective {
 public:
  /// Shapes: `all` gets every rank's `mine`, one after the other; `counts` as above.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator,
                                                       const Tensor& mine, Tensor& all,
                                                       const RankCounts& counts = {}) = 0;
};

using AllReduceEntry = Entry<std::shared_ptr<AllReduce>()>;
using BroadcastEntry = Entry<std::shared_ptr<Broadcast>()>;
using ReduceScatterEntry = Entry<std::shared_ptr<ReduceScatter>()>;
using AllGatherEntry = Entry<std::shared_ptr<AllGather>()>;

/// All algorithms by name; src/level3_distributed/collectives has a folder of built-in ones for
/// each kind.
[[nodiscard]] Registry<AllReduceEntry>& all_reduces();
[[nodiscard]] Registry<BroadcastEntry>& broadcasts();
[[nodiscard]] Registry<ReduceScatterEntry>& reduce_scatters();
[[nodiscard]] Registry<AllGatherEntry>& all_gathers();

}  // namespace d5

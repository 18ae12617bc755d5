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

/// One call of a collective, seen by one rank: which rank, and how much data.
struct CollectiveSize {
  int rank = 0, ranks = 1;
  std::int64_t elements = 0;  ///< in the data; reduce-scatter and all-gather: of all ranks together
  std::int64_t element_bytes = 4;
  int root = 0;  ///< broadcast only
};

/// An algorithm of any kind of collective: what it predicts and reports about itself.
class Collective {
 public:
  virtual ~Collective() = default;
  /// The traffic that `Traffic` counts for one call on that rank, all kinds of call added up;
  /// nullopt if the algorithm cannot predict it.
  [[nodiscard]] virtual std::optional<Traffic::Line> volume(const CollectiveSize& size) const {
    (void)size;
    return {};
  }
  /// Runs the one-time work of the first call on a communicator (such as measuring) now. A
  /// collective.
  virtual void prepare(Communicator& ranks) { (void)ranks; }
  /// The algorithms that a delegating one (`auto`) chose, for the record: "ring to 4 MiB, then
  /// mpi"; empty for all others.
  [[nodiscard]] virtual std::string chosen() const { return {}; }
};

/// An all-reduce algorithm, built from any calls of a communicator.
///
///     auto ring = all_reduces().at("ring").make();
///     ring->start(*world(), gradient)->wait();
class AllReduce : public Collective {
 public:
  /// Starts a reduction in place; the result has the same bits on every rank. Several requests may
  /// be in flight at once if all ranks start them in the same order. This object must outlive the
  /// request.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                                       Reduction reduction = Reduction::sum) = 0;
};

/// A broadcast algorithm. The rules of `AllReduce::start` hold for all kinds.
class Broadcast : public Collective {
 public:
  /// Overwrites `data` with that of rank `root`.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                                       int root) = 0;
};

/// A reduce-scatter algorithm.
class ReduceScatter : public Collective {
 public:
  /// Shapes: `all` holds one part for each rank; rank r gets part r, reduced. `counts` are the
  /// elements of each part if the parts differ in size.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator,
                                                       const Tensor& all, Tensor& mine,
                                                       Reduction reduction = Reduction::sum,
                                                       const RankCounts& counts = {}) = 0;
};

/// An all-gather algorithm.
class AllGather : public Collective {
 public:
  /// Shapes: `all` gets every rank's `mine`, in rank order; `counts` as above.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator,
                                                       const Tensor& mine, Tensor& all,
                                                       const RankCounts& counts = {}) = 0;
};

using AllReduceEntry = Entry<std::shared_ptr<AllReduce>()>;
using BroadcastEntry = Entry<std::shared_ptr<Broadcast>()>;
using ReduceScatterEntry = Entry<std::shared_ptr<ReduceScatter>()>;
using AllGatherEntry = Entry<std::shared_ptr<AllGather>()>;

/// All algorithms by name. src/level3_distributed/collectives has one folder of built-in algorithms
/// for each kind.
[[nodiscard]] Registry<AllReduceEntry>& all_reduces();
[[nodiscard]] Registry<BroadcastEntry>& broadcasts();
[[nodiscard]] Registry<ReduceScatterEntry>& reduce_scatters();
[[nodiscard]] Registry<AllGatherEntry>& all_gathers();

}  // namespace d5

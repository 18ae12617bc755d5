// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/profile/rank_rates.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"
#include "prediction/networks/fluid_share.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"
#include "prediction/simulation/message_board.hpp"

namespace d5::detail {

/// The nodes of simulated ranks, and the time of work in their memory. Work takes longer if more
/// ranks of a node work at the same time, by the measured rates.
class SimulatedNodes final : public NodesOfStrands, public TimedChanges {
 public:
  SimulatedNodes(const ClusterDescription& cluster, int ranks, const RankRates& rates,
                 FiberScheduler& scheduler, MessageBoard& board);

  /// Spends the time of summing or copying `bytes` at a rate of `RankRates`; 0: no time.
  void work(std::size_t bytes, double bandwidth);
  [[nodiscard]] bool share_memory() const { return share_memory_; }

  [[nodiscard]] std::string identity(int outermost_rank) const override;
  void look() override;
  void publishes() override;
  void published() override;
  void copies(std::size_t bytes) override;
  void sums(std::size_t bytes) override;

  /// Advances both messages and work in memory.
  bool advance(double limit) override;

 private:
  using Memory = FluidShare<FiberScheduler::Strand*>;
  [[nodiscard]] std::size_t node_of(int rank) const {
    return static_cast<std::size_t>(nodes_[static_cast<std::size_t>(rank)]);
  }

  RankRates rates_;
  double signal_;
  FiberScheduler& scheduler_;
  MessageBoard& board_;
  std::vector<std::int64_t> nodes_;  // by rank
  std::vector<Memory> memories_;     // by node
  std::size_t working_ = 0;          // number of ranks at work
  bool share_memory_ = false;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/simulated_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace d5::detail {

SimulatedNodes::SimulatedNodes(const ClusterDescription& cluster, int ranks, const RankRates& rates,
                               FiberScheduler& scheduler, MessageBoard& board)
    : rates_(rates), signal_(cluster.signal.value), scheduler_(scheduler), board_(board) {
  for (int rank = 0; rank < ranks; ++rank) nodes_.push_back(cluster.node_of(rank, ranks));
  memories_.resize(static_cast<std::size_t>(std::ranges::max(nodes_)) + 1);
  share_memory_ = memories_.size() < nodes_.size();
}

void SimulatedNodes::work(std::size_t bytes, double bandwidth) {
  if (bandwidth == 0) return;
  auto& strand = scheduler_.current();
  const double seconds = static_cast<double>(bytes) / bandwidth;
  // Ranks without shared memory here may have shared it in the measurement, over a modelled wire.
  if (share_memory_ && rates_.alone > 1 && rates_.ranks > 1) {
    scheduler_.catch_up();
    ++working_;
    memories_[node_of(strand.rank)].add(&strand, seconds / rates_.alone,
                                        rates_.alone / rates_.ranks, strand.time);
    return scheduler_.wait();
  }
  strand.time += seconds;
  // The rank's other strand must not see results before they are done.
  if (strand.background) scheduler_.catch_up();
}

std::string SimulatedNodes::identity(int outermost_rank) const {
  return fmt::format("simulated node {}", node_of(outermost_rank));
}

void SimulatedNodes::look() {
  scheduler_.catch_up();
  scheduler_.current().time += signal_;  // the observation is delayed by the signal
}

void SimulatedNodes::publishes() { scheduler_.catch_up(); }

void SimulatedNodes::published() {
  const auto& strand = scheduler_.current();
  const std::size_t node = node_of(strand.rank);
  for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
    const int other = static_cast<int>(rank);
    if (other != strand.rank && node_of(other) == node) board_.note_change(other, strand.time);
  }
}

void SimulatedNodes::copies(std::size_t bytes) {
  work(bytes, rates_.shared_bandwidth > 0 ? rates_.shared_bandwidth : rates_.copy_bandwidth);
}

void SimulatedNodes::sums(std::size_t bytes) {
  work(bytes, rates_.shared_reduce_bandwidth > 0 ? rates_.shared_reduce_bandwidth
                                                 : rates_.reduce_bandwidth);
}

bool SimulatedNodes::advance(double limit) {
  if (working_ == 0) return board_.advance(limit);
  const auto next = std::ranges::min_element(memories_, {}, &Memory::next);
  const double ends = next->next();
  if (board_.advance(std::min(limit, ends))) return true;
  if (ends > limit) return false;
  --working_;
  scheduler_.wake(*next->take(), ends);
  return true;
}

}  // namespace d5::detail
